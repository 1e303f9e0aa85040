// Where everybody is at a moment of a replay. Time runs in rounds: round 3 is told from 2 to 3.

/** Metres along a way. */
const wayLength = (way) => way.slice(1).reduce((sum, [x, y], place) => sum + Math.hypot(x - way[place][0], y - way[place][1]), 0);

/** The places of a way as far as one has come who has done a share of it; the last is where one is. */
function travelled(way, share) {
  const places = [way[0]];
  let left = share * wayLength(way);
  for (let place = 1; place < way.length; place++) {
    const [[x1, y1], [x2, y2]] = [way[place - 1], way[place]];
    const leg = Math.hypot(x2 - x1, y2 - y1);
    if (left < leg) return [...places, [mix(x1, x2, left / leg), mix(y1, y2, left / leg)]];
    places.push(way[place]);
    left -= leg;
  }
  return places;
}

const smooth = (share) => share * share * (3 - 2 * share);

class Scene {
  constructor(replay) {
    this.replay = replay;
    this.frames = replay.frames;
    this.timeline = new Timeline(this.frames);
    this.starts = this.frames.map((frame, place) => frame.fleet.map((_, uav) => this.start(place, uav)));
    this.journeys = replay.uavs.map((_, uav) => this.journeysOf(uav));
    this.flights = replay.uavs.map((_, uav) => this.flightsOf(uav));
  }

  get rounds() { return this.frames.length; }

  told(place, uav, kind) {
    return this.frames[place].events.find((event) => event.uav === uav && event.kind === kind);
  }

  /** How a UAV enters a round. */
  start(place, uav) {
    const [x, y, , charge] = this.frames[place].fleet[uav];
    const moved = this.told(place, uav, "moved");
    const returned = this.told(place, uav, "returned") ?? this.told(place, uav, "arrived");
    const before = place === 0 ? 0 : this.frames[place - 1].fleet[uav][2];
    const [atX, atY] = moved ? moved.way[0] : [x, y];
    return { x: atX, y: atY, charge, status: returned ? 0 : before, moved, returned, left: this.told(place, uav, "left"), lost: this.told(place, uav, "lost") };
  }

  /** Flights to the base and back, as long as they take at the UAV's speed. */
  journeysOf(uav) {
    const journeys = [];
    this.frames.forEach((frame, place) => {
      const left = this.told(place, uav, "left");
      if (!left) return;
      const trained = frame.fleet[uav][5];
      const { start, end } = this.timeline.rounds[place];
      // Who has no devices leaves before anybody trains.
      const leaves = trained ? end : start;
      const flight = wayLength(left.way) / this.replay.speed[uav];
      const back = left.there_at_s ?? Infinity;
      journeys.push({ way: left.way, leaves, home: leaves + flight, starts: Math.max(back - flight, leaves + flight), back });
    });
    return journeys;
  }

  /** Flights to new positions while the others go on. */
  flightsOf(uav) {
    const moves = this.frames.map((_, place) => this.told(place, uav, "moved"));
    return moves.filter((moved) => moved?.there_at_s).map(({ way, there_at_s: there }) => ({ way, there, leaves: there - wayLength(way) / this.replay.speed[uav] }));
  }

  /** Where a UAV that has set off for a new position is, and the way behind it; null before. */
  inFlight(uav, clock) {
    const flight = this.flights[uav].findLast((one) => one.leaves <= clock);
    if (!flight) return null;
    const share = clamp((clock - flight.leaves) / Math.max(flight.there - flight.leaves, 1e-9), 0, 1);
    return travelled(flight.way, share);
  }

  /** Where a UAV that has left is: on its way, or at the base. */
  away(uav, clock) {
    const journey = this.journeys[uav].findLast((one) => one.leaves <= clock);
    if (!journey) return null;
    const way = clock < journey.home ? (clock - journey.leaves) / (journey.home - journey.leaves)
      : clock > journey.starts && journey.back > journey.starts ? clamp((journey.back - clock) / (journey.back - journey.starts), 0, 1) : 1;
    const [x, y] = travelled(journey.way, way).at(-1);
    return { x, y, flying: way < 1 ? 1 : 0 };
  }

  at(time) {
    const place = clamp(Math.ceil(time) - 1, 0, this.rounds - 1);
    const share = clamp(time - place, 0, 1);
    const frame = this.frames[place];
    const before = place === 0 ? null : this.frames[place - 1];
    const clock = this.timeline.clock(place, share);
    const elapsed = this.timeline.elapsed(place, share);
    const done = Object.fromEntries(PARTS.map((name) => [name, this.timeline.over(place, share, name)]));
    const uavs = frame.fleet.map((_, uav) => this.uav(place, uav, { share, clock, elapsed, done }));
    return {
      place, share, frame, clock, done, uavs, devices: this.devices(place, done.roam),
      energy: mix(before?.energy_j ?? 0, frame.energy_j, elapsed),
      // A model is tested when its round is over.
      tested: share >= 1 ? frame : before,
    };
  }

  uav(place, uav, { share, clock, elapsed, done }) {
    const start = this.starts[place][uav];
    const [, , after, , chargeAfter, trained] = this.frames[place].fleet[uav];
    let { x, y } = start;
    let flown = null;
    let [presence, fallen, flying] = [start.status === 0 ? 1 : 0, start.status === 3 ? 1 : 0, 0];
    const goesOn = start.moved?.there_at_s ?? null;
    const behind = start.status === 4 || goesOn !== null ? this.inFlight(uav, clock) : null;
    if (behind) {
      // Until the round is over it covers nobody, even if it has arrived.
      [flown, presence, flying] = [behind, 0, 1];
      [x, y] = flown.at(-1);
    } else if (start.moved && goesOn === null) {
      flown = travelled(start.moved.way, smooth(done.fly));
      [x, y] = flown.at(-1);
    }
    const gone = start.left ? (trained ? share >= 1 : done.roam > 0) : start.status === 1 || start.status === 2;
    if (gone) {
      const away = this.away(uav, clock) ?? { x: this.replay.bases[0][0], y: this.replay.bases[0][1], flying: 0 };
      ({ x, y, flying } = away);
      presence = 0;
    }
    if (start.lost) {
      const when = start.lost.at === 0 ? done.roam : done.train >= start.lost.at ? 1 : 0;
      [fallen, presence] = [when, 1 - when];
    }
    const status = share >= 1 || fallen === 1 || (gone && start.left) ? after : start.status;
    return { x, y, presence, fallen, flying, status, charge: mix(start.charge, chargeAfter, elapsed), trained, flown };
  }

  devices(place, roamed) {
    const frame = this.frames[place];
    const before = this.frames[Math.max(place - 1, 0)];
    const way = smooth(roamed);
    const x = frame.x.map((to, device) => mix(before.x[device], to, way));
    const y = frame.y.map((to, device) => mix(before.y[device], to, way));
    return { x, y, part: way > 0.5 ? frame.uav : before.uav };
  }

  /** Metres from left to right and from bottom to top that hold the area, the bases and every circle; but no more beyond the area than it
      is long, lest it become a dot. */
  bounds() {
    const { area: [width, height], bases, radius } = this.replay;
    const most = Math.max(width, height);
    const bounds = [0, width, 0, height];
    const reach = (x, y, around) => {
      bounds[0] = Math.min(bounds[0], Math.max(x - around, -most));
      bounds[1] = Math.max(bounds[1], Math.min(x + around, width + most));
      bounds[2] = Math.min(bounds[2], Math.max(y - around, -most));
      bounds[3] = Math.max(bounds[3], Math.min(y + around, height + most));
    };
    bases.forEach(([x, y]) => reach(x, y, 0));
    for (const frame of this.frames) {
      frame.fleet.forEach(([x, y], uav) => reach(x, y, radius[uav]));
      for (const { kind, way, uav } of frame.events) {
        if (kind === "moved" && uav !== null) for (const end of [way[0], way[way.length - 1]]) reach(...end, radius[uav]);
      }
    }
    return bounds;
  }
}
