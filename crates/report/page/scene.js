// Where everybody is at a moment of a replay. Time runs in rounds: round 3 is told from 2 to 3.

/** The parts of a round, in the order of the simulation. */
const PHASES = { roam: [0, 0.22], train: [0.22, 0.58], fly: [0.58, 0.72], offload: [0.72, 0.84], broadcast: [0.84, 0.94], leave: [0.9, 1] };

/** How much of a span is over, 0 to 1. */
const over = (share, [from, to]) => clamp((share - from) / (to - from), 0, 1);
const smooth = (share) => share * share * (3 - 2 * share);

class Scene {
  constructor(replay) {
    this.replay = replay;
    this.frames = replay.frames;
    this.starts = this.frames.map((frame, place) => frame.fleet.map((_, uav) => this.start(place, uav)));
  }

  get rounds() { return this.frames.length; }

  told(place, uav, kind) {
    return this.frames[place].events.find((event) => event.uav === uav && event.kind === kind);
  }

  /** How a UAV enters a round. */
  start(place, uav) {
    const [x, y, , charge] = this.frames[place].fleet[uav];
    const moved = this.told(place, uav, "moved");
    const returned = this.told(place, uav, "returned");
    const before = place === 0 ? 0 : this.frames[place - 1].fleet[uav][2];
    const [atX, atY] = moved ? moved.from : [x, y];
    return { x: atX, y: atY, charge, status: returned ? 0 : before, moved, returned, left: this.told(place, uav, "left"), lost: this.told(place, uav, "lost") };
  }

  at(time) {
    const place = clamp(Math.ceil(time) - 1, 0, this.rounds - 1);
    const share = clamp(time - place, 0, 1);
    const frame = this.frames[place];
    const uavs = frame.fleet.map((_, uav) => this.uav(place, uav, share));
    return { place, share, frame, uavs, devices: this.devices(place, share) };
  }

  uav(place, uav, share) {
    const start = this.starts[place][uav];
    const [, , after, , chargeAfter, trained] = this.frames[place].fleet[uav];
    const [baseX, baseY] = this.replay.base;
    let { x, y } = start;
    let [presence, fallen, flying] = [start.status === 0 ? 1 : 0, start.status === 3 ? 1 : 0, 0];
    if (start.returned) {
      const home = smooth(over(share, PHASES.roam));
      [x, y, presence, flying] = [mix(baseX, x, home), mix(baseY, y, home), home, home < 1 ? 1 : 0];
    }
    if (start.moved) {
      const way = smooth(over(share, PHASES.fly));
      [x, y] = [mix(x, start.moved.to[0], way), mix(y, start.moved.to[1], way)];
    }
    if (start.left) {
      // Who had no devices left before anybody trained.
      const way = smooth(over(share, trained ? PHASES.leave : [0.08, 0.3]));
      [x, y, presence, flying] = [mix(x, baseX, way), mix(y, baseY, way), 1 - way, way < 1 ? 1 : 0];
    }
    if (start.lost) {
      const when = start.lost.at === 0 ? 0.14 : mix(...PHASES.train, start.lost.at);
      fallen = over(share, [when, when + 0.1]);
      presence = 1 - fallen;
    }
    const status = share >= 1 ? after : start.status === 0 && presence === 0 ? after : start.status;
    return { x, y, presence, fallen, flying, status, charge: mix(start.charge, chargeAfter, share), trained, moved: start.moved };
  }

  devices(place, share) {
    const frame = this.frames[place];
    const before = this.frames[Math.max(place - 1, 0)];
    const way = smooth(over(share, PHASES.roam));
    const x = frame.x.map((to, device) => mix(before.x[device], to, way));
    const y = frame.y.map((to, device) => mix(before.y[device], to, way));
    return { x, y, part: way > 0.5 ? frame.uav : before.uav };
  }
}
