// The map, round by round.

class Replay {
  constructor(place, replay) {
    this.scene = new Scene(replay);
    Object.assign(this, { place, replay, time: Math.min(1, this.scene.rounds), playing: false, speed: 1, shownRound: -1 });
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.build();
    this.pen = new Pen(this.canvas);
    this.resize = new ResizeObserver(() => this.fit());
    this.resize.observe(this.ground);
    this.repaint = () => { this.pen.mixColours(); this.drawSigns(); this.fit(); };
    repaints.push(this.repaint);
  }

  /** Lets go of the page, for another replay. */
  close() {
    this.pause();
    this.resize.disconnect();
    repaints.splice(repaints.indexOf(this.repaint), 1);
  }

  build() {
    const { frames } = this.replay;
    const rounds = frames.length;
    this.canvas = make("canvas", { role: "img", onpointermove: (event) => this.hover(event), onpointerleave: () => tip.hide() });
    this.ground = make("div", {}, this.canvas);
    const names = { clock: "simulated time", round: "round", energy: "energy so far", accuracy: "test accuracy" };
    this.now = Object.fromEntries(Object.keys(names).map((name) => [name, make("dd", { "data-now": name })]));
    this.tested = make("dt", {}, names.accuracy);
    const facts = Object.entries(this.now).map(([name, value]) => make("div", {}, name === "accuracy" ? this.tested : make("dt", {}, names[name]), value));
    this.fleet = this.replay.uavs.map((uav, place) => ({
      name: make("span", {}, make("i", { class: "dot", style: `background:${colour(DATA.uav_colours[place % DATA.uav_colours.length])}` }), `UAV ${uav}`),
      charge: make("i"), percent: make("span", { class: "percent" }), words: make("span"),
    }));
    const rows = this.fleet.map((row) => make("li", {}, row.name, make("span", { class: "charge", "aria-hidden": "true" }, row.charge), row.percent, row.words));
    const zones = ZONE_SIGNS.filter((_, obstacle) => this.replay.zones.some(({ height }) => height > 0 === (obstacle === 1)));
    this.signs = [...SIGNS, ...zones].map(([text, draw]) => ({ canvas: make("canvas", { "aria-hidden": "true" }), text, draw }));
    const signs = make("ul", { class: "signs", "aria-label": "Signs" }, ...this.signs.map((sign) => make("li", {}, sign.canvas, sign.text)));

    this.play = make("button", { type: "button", class: "play", id: "play", onclick: () => (this.playing ? this.pause() : this.start()) }, "▶ Play");
    const step = (name, by, label) => make("button", { type: "button", "aria-label": label, onclick: () => { this.pause(); this.go(by < 0 ? Math.ceil(this.time) - 1 : Math.floor(this.time) + 1); } }, name);
    this.slider = make("input", {
      type: "range", min: 0, max: rounds, step: 0.02, "aria-label": "Round", "data-replay": "slider",
      oninput: () => { this.pause(); this.go(Number(this.slider.value)); },
    });
    const speeds = [0.5, 1, 2, 4, 8].map((speed) => make("option", { value: speed, ...(speed === 1 ? { selected: "" } : {}) }, `${speed}×`));
    const speed = make("label", {}, "Speed ", make("select", { onchange: (event) => { this.speed = Number(event.target.value); } }, ...speeds));
    this.track = make("svg", { preserveAspectRatio: "none", viewBox: "0 0 1000 34", "aria-hidden": "true" });
    this.pace = make("span", { class: "pace", "data-now": "pace" });
    const controls = make("div", { class: "controls", onkeydown: (event) => this.key(event) },
      make("div", { class: "buttons" }, this.play, step("‹", -1, "Round before"), step("›", 1, "Next round")),
      make("div", { class: "track" }, this.track, this.slider), make("div", { class: "speed" }, speed, this.pace));

    this.lines = frames.map((frame, place) => make("button", { type: "button", onclick: () => { this.pause(); this.go(place + 1); } },
      make("span", { class: "when" }, `Round ${frame.round}`),
      make("span", {}, make("span", { class: "quiet" }, frame.summary), ...frame.events.map((event) => make("em", {}, `${MARKS[event.kind] ?? "•"} ${event.text}`)))));
    this.log = roving(make("ol", { class: "log", "aria-label": "What happened; arrow keys go from round to round" }, ...this.lines.map((line) => make("li", {}, line))));
    const side = make("div", { class: "side" }, make("dl", { class: "now" }, ...facts), make("ul", { class: "fleet", "aria-label": "Fleet" }, ...rows), this.log);
    this.place.replaceChildren(make("div", { class: "replay" }, this.ground, controls, side, signs), ...this.notes());
    this.drawTrack();
  }

  notes() {
    const { every, devices, frames, rounds } = this.replay;
    const { timeline } = this.scene;
    const capped = timeline.rounds.some((round) => round.parts.some((part) => part.seconds === MOST_S));
    const notes = [`At speed 1× a second shows ${spanWords(timeline.rate)} of the simulation. What would be over in less than ${LEAST_S} s is slowed down`
      + `${capped ? `, what would take longer than ${MOST_S} s is sped up` : ""}; the pace of the moment stands beside the speed. Devices move between rounds, while the clock stands still. `
      + "Within a round energy and batteries are taken on the straight line."];
    if (every > 1) notes.push(`Every ${every}th of ${counted(devices, "device")} is drawn.`);
    if (frames.length < rounds) notes.push(`The first ${number(frames.length)} of ${counted(rounds, "round")}.`);
    return [make("p", { class: "note" }, notes.join(" "))];
  }

  drawSigns() {
    this.signs.forEach(({ canvas, draw }) => {
      const pen = new Pen(canvas);
      pen.size(30, 20);
      draw(pen);
    });
  }

  /** Accuracy over the slider, and a mark where something happened. */
  drawTrack() {
    const { frames } = this.replay;
    const known = frames.map((frame) => frame.accuracy).filter((value) => value !== null);
    const [low, high] = [Math.min(...known, 1), Math.max(...known, 0)];
    const x = (round) => 8 + 984 * round / frames.length;
    const y = (value) => mix(32, 10, (value - low) / Math.max(high - low, 1e-9));
    const spots = frames.map((frame, place) => [x(place + 1), frame.accuracy]).filter(([, value]) => value !== null);
    const top = spots.map(([at, value]) => `L${at.toFixed(1)},${y(value).toFixed(1)}`).join("");
    const area = spots.length ? [make("path", { d: `M${spots[0][0]},34${top}L${spots[spots.length - 1][0]},34Z`, style: "fill:var(--accent);opacity:.18" }),
      make("path", { d: `M${top.slice(1)}`, fill: "none", "vector-effect": "non-scaling-stroke", style: "stroke:var(--accent);stroke-width:1.5" })] : [];
    const marks = frames.flatMap((frame, place) => {
      const kind = Object.keys(TRACKED).find((wanted) => frame.events.some((event) => event.kind === wanted));
      return kind ? [make("line", { x1: x(place + 1), x2: x(place + 1), y1: 0, y2: 34, "vector-effect": "non-scaling-stroke", style: `stroke:${colour(TRACKED[kind])};stroke-width:2` })] : [];
    });
    this.track.replaceChildren(...area, ...marks);
  }

  /** Room for everything that is drawn, and for the numbers along two sides. */
  fit() {
    const [west, east, south, north] = this.scene.bounds();
    const [width, height] = [east - west, north - south];
    const wide = Math.max(this.ground.clientWidth, 200);
    const shape = clamp(height / width, 0.35, 1.4);
    const tall = Math.min(wide * shape, Math.max(window.innerHeight * 0.85, 320));
    const room = { left: this.edge + 8, right: 12, top: 14, bottom: 30 };
    this.canvas.style.height = `${tall}px`;
    this.pen.size(wide, tall);
    this.scale = Math.min((wide - room.left - room.right) / width, (tall - room.top - room.bottom) / height);
    this.left = (room.left + wide - room.right - width * this.scale) / 2 - west * this.scale;
    this.foot = (room.top + tall - room.bottom + height * this.scale) / 2 + south * this.scale;
    this.draw();
  }

  x(metres) { return this.left + metres * this.scale; }
  y(metres) { return this.foot - metres * this.scale; }

  start() {
    if (this.time >= this.scene.rounds) this.time = 0;
    this.playing = true;
    this.play.textContent = "❚❚ Pause";
    let last = null;
    const tick = (stamp) => {
      if (!this.playing) return;
      const passed = last === null ? 0 : Math.min((stamp - last) / 1000, 0.25);
      last = stamp;
      this.step(passed * this.speed);
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  /** Advances by seconds of watching; who wants no motion sees whole rounds only. */
  step(seconds) {
    this.pending = (this.pending ?? 0) + seconds;
    const next = this.scene.timeline.after(this.time, this.pending);
    if (this.still.matches && next < Math.floor(this.time) + 1) return;
    this.go(this.still.matches ? Math.floor(this.time) + 1 : next);
    this.pending = 0;
    if (this.time >= this.scene.rounds) this.pause();
  }

  pause() {
    this.playing = false;
    this.play.textContent = "▶ Play";
  }

  key(event) {
    if (event.target.tagName === "SELECT") return;
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 5, PageDown: -5, Home: -Infinity, End: Infinity }[event.key];
    // Buttons are pressed by the space bar as they are.
    if (event.key === " " && event.target === this.slider) { event.preventDefault(); this.play.click(); return; }
    if (by === undefined) return;
    event.preventDefault();
    this.pause();
    this.go(by < 0 ? Math.ceil(this.time) + by : Math.floor(this.time) + by);
  }

  go(time) {
    this.time = clamp(time, 0, this.scene.rounds);
    this.draw();
  }

  draw() {
    const scene = this.scene.at(this.time);
    this.drawMap(scene);
    this.tell(scene);
  }

  tell(scene) {
    const { frame, place, share, uavs, clock, energy, tested } = scene;
    const { timeline } = this.scene;
    const whole = timeline.rounds[timeline.rounds.length - 1].end;
    this.now.clock.textContent = clockWords(clock, whole, timeline.rate * ROUND_S);
    this.now.energy.textContent = energyWords(energy);
    const pace = timeline.rateAt(place, share) * this.speed;
    this.pace.textContent = pace > 0 ? `1\u00a0s shows ${spanWords(pace)}` : "the clock stands";
    this.tested.textContent = tested ? `test accuracy after round ${tested.round}` : "test accuracy";
    this.now.accuracy.textContent = !tested ? "not tested yet" : tested.accuracy === null ? "n/a" : `${(100 * tested.accuracy).toFixed(2)}\u00a0%`;
    this.slider.value = this.time;
    this.fleet.forEach((row, uav) => {
      const { charge, status, trained, flying } = uavs[uav];
      row.charge.style.width = `${status === 3 ? 0 : 100 * clamp(charge, 0, 1)}%`;
      row.charge.style.background = colour(chargeColour(charge));
      row.percent.textContent = status === 3 ? "–" : `${Math.round(100 * charge)}\u00a0%`;
      row.words.textContent = flying ? "on its way" : status !== 0 ? STATUS[status] : `${counted(trained, "device")}${frame.aggregator === uav ? " ★" : ""}`;
      row.name.parentElement.className = status === 0 ? "" : "gone";
    });
    if (this.shownRound === place) return;
    this.shownRound = place;
    this.now.round.textContent = `${frame.round} of ${this.replay.rounds}`;
    const told = `Round ${frame.round}, over at ${spanWords(frame.clock_s)}: ${frame.summary}`;
    this.slider.setAttribute("aria-valuetext", told);
    this.canvas.setAttribute("aria-label", `Map. ${[told, ...frame.events.map((event) => event.text)].join(" ")}`);
    this.lines.forEach((line, index) => (index === place ? line.setAttribute("aria-current", "true") : line.removeAttribute("aria-current")));
    // Only the log scrolls, never the page.
    const line = this.lines[place];
    const [above, below] = [line.offsetTop - this.log.offsetTop, line.offsetTop - this.log.offsetTop + line.offsetHeight];
    if (above < this.log.scrollTop || below > this.log.scrollTop + this.log.clientHeight) this.log.scrollTop = above - this.log.clientHeight / 2;
  }

  drawMap(scene) {
    const { pen } = this;
    const { to } = pen;
    to.clearRect(0, 0, pen.width, pen.height);
    this.drawGround();
    this.drawZones();
    scene.uavs.forEach((uav, place) => { if (uav.presence > 0 && !uav.flying) pen.coverage(this.x(uav.x), this.y(uav.y), this.replay.radius[place] * this.scale, place, uav.presence); });
    this.drawSpokes(scene);
    this.drawDevices(scene);
    this.drawExchange(scene);
    this.replay.bases.forEach(([x, y]) => pen.base(this.x(x), this.y(y)));
    this.drawFleet(scene);
    this.drawScale();
  }

  drawGround() {
    const { pen } = this;
    const { to, ink } = pen;
    const [width, height] = this.replay.area;
    to.fillStyle = ink.land;
    to.fillRect(this.x(0), this.y(height), width * this.scale, height * this.scale);
    to.lineWidth = 1;
    // Numbers stand at the edge of the map, beyond every circle.
    const [edge, foot] = [this.edge, pen.height - 24];
    const soft = { font: "11px", fill: ink.soft };
    for (const [at, text] of this.marks(0)) {
      to.strokeStyle = ink.faint;
      pen.line(this.x(at), this.y(0), this.x(at), this.y(height));
      to.strokeStyle = ink.line;
      pen.line(this.x(at), foot, this.x(at), foot + 4);
      pen.words(text, this.x(at), foot + 16, soft);
    }
    for (const [at, text] of this.marks(1)) {
      to.strokeStyle = ink.faint;
      pen.line(this.x(0), this.y(at), this.x(width), this.y(at));
      to.strokeStyle = ink.line;
      pen.line(edge, this.y(at), edge + 4, this.y(at));
      pen.words(text, edge - 3, this.y(at) + 4, { ...soft, align: "right" });
    }
    to.strokeStyle = ink.line;
    pen.line(edge + 4, foot, pen.width, foot);
    pen.line(edge + 4, 0, edge + 4, foot);
    to.strokeRect(this.x(0), this.y(height), width * this.scale, height * this.scale);
    pen.words(this.unit()[0], edge - 3, foot + 16, { ...soft, align: "right" });
  }

  /** Where numbers at the left end; degrees are longer. */
  get edge() { return this.replay.globe ? 48 : 28; }

  /** What numbers at the edges count, and how many metres that is. */
  unit() { return this.replay.globe ? ["°", 1] : Math.max(...this.replay.area) >= 2000 ? ["km", 1000] : ["m", 1]; }

  /** Ticks to the east (0) or north (1): where they stand, in metres, and what they say. */
  marks(axis) {
    const { area, globe } = this.replay;
    const longest = Math.max(...area);
    const most = clamp(Math.floor(longest * this.scale / 70), 2, 8);
    if (!globe) {
      const [, size] = this.unit();
      return ticks(0, longest, most).filter((at) => at <= area[axis]).map((at) => [at, number(at / size)]);
    }
    const [low, high] = globe[axis];
    const all = ticks(low, high, Math.max(Math.round(most * area[axis] / longest), 1));
    const digits = Math.max(0, -Math.floor(Math.log10(all[1] - all[0]) + 1e-9));
    // East of the date line longitudes begin anew.
    const words = (value) => (value > 180 ? value - 360 : value).toFixed(digits);
    return all.filter((value) => value >= low && value <= high).map((value) => [(value - low) / (high - low) * area[axis], words(value)]);
  }

  /** What UAVs fly around. */
  drawZones() {
    for (const { corners, height } of this.replay.zones) this.pen.zone(corners.map(([x, y]) => [this.x(x), this.y(y)]), height > 0);
  }

  /** How long a tick is, in the corner where numbers end. */
  drawScale() {
    const { pen } = this;
    const longest = Math.max(...this.replay.area);
    const step = ticks(0, longest, clamp(Math.floor(longest * this.scale / 70), 2, 8))[1];
    const [right, foot] = [pen.width - 12, pen.height - 34];
    const left = right - step * this.scale;
    const { to, ink } = pen;
    to.strokeStyle = ink.ink;
    to.lineWidth = 1.5;
    pen.line(left, foot, right, foot);
    for (const end of [left, right]) pen.line(end, foot - 4, end, foot + 4);
    const length = step >= 1000 ? `${number(step / 1000)} km` : `${number(step)} m`;
    pen.words(length, (left + right) / 2, foot - 6, { font: "11px", fill: ink.ink, halo: ink.card });
  }

  /** From each device to its UAV, and on it what it sends. */
  drawSpokes({ devices, uavs, done, frame, place }) {
    const { pen } = this;
    const { to } = pen;
    const training = done.train;
    const busy = training > 0 && training < 1;
    if (devices.part.length > 600 || done.roam < 1) return;
    const turns = clamp(frame.edge, 1, 3);
    to.lineWidth = 1;
    devices.part.forEach((part, device) => {
      if (part < 0 || !uavs[part] || uavs[part].fallen > 0 || uavs[part].presence < 1) return;
      // The cell it trained in, even if the UAV has flown on since.
      const from = this.scene.starts[place][part];
      const [x1, y1, x2, y2] = [this.x(devices.x[device]), this.y(devices.y[device]), this.x(from.x), this.y(from.y)];
      to.strokeStyle = pen.uavInk(part);
      to.globalAlpha = busy ? 0.4 : 0.16;
      pen.line(x1, y1, x2, y2);
      if (!busy) return;
      to.globalAlpha = 0.9;
      const way = (training * turns + ((device * 0.618) % 1) * 0.5) % 1;
      pen.disc(mix(x1, x2, way), mix(y1, y2, way), 1.8, pen.uavInk(part));
    });
    to.globalAlpha = 1;
  }

  drawDevices({ devices }) {
    const count = devices.part.length;
    const radius = (count <= 300 ? 4.2 : count <= 800 ? 3 : 2.2) * clamp(this.pen.width / 640, 0.75, 1.15);
    // Who trained lies on top.
    for (const wanted of [false, true]) {
      devices.part.forEach((part, device) => {
        if (part >= 0 === wanted) this.pen.device(this.x(devices.x[device]), this.y(devices.y[device]), part, radius);
      });
    }
  }

  /** Edge models to the aggregator, and the global model back. */
  drawExchange({ frame, uavs, done }) {
    const { pen } = this;
    for (const { flown, flying } of uavs.filter((uav) => uav.flown && (uav.presence > 0 || uav.flying))) {
      if (done.fly > 0 || flying) pen.arrow(flown.map(([x, y]) => [this.x(x), this.y(y)]), pen.ink.accent);
    }
    const aggregator = frame.aggregator === null ? null : uavs[frame.aggregator];
    const [there, back] = [done.offload, done.broadcast];
    if (!aggregator || there === 0) return;
    const [x2, y2] = [this.x(aggregator.x), this.y(aggregator.y)];
    uavs.forEach((uav, place) => {
      if (place === frame.aggregator || uav.presence < 1) return;
      const [x1, y1] = [this.x(uav.x), this.y(uav.y)];
      pen.link(x1, y1, x2, y2, 0.55, back > 0 ? 12 * back : -12 * there);
      const way = smooth(back > 0 ? 1 - back : there);
      if (back < 1 && (back > 0 ? uav.status === 0 : uav.trained)) pen.disc(mix(x1, x2, way), mix(y1, y2, way), 5, back > 0 ? pen.ink.yellow : pen.uavInk(place), pen.ink.ink, 1);
    });
  }

  drawFleet({ frame, uavs, done }) {
    const { pen } = this;
    const crowd = uavs.length > 24;
    const size = (crowd ? 0.7 : 1.25) * clamp(pen.width / 640, 0.75, 1.1);
    const parked = this.replay.bases.map(() => 0);
    uavs.forEach((uav, place) => {
      let [x, y] = [this.x(uav.x), this.y(uav.y)];
      const number = String(this.replay.uavs[place]);
      if (uav.presence === 0 && uav.fallen === 0 && !uav.flying) {
        // At home, in a row beside its base.
        const away = this.replay.bases.map(([bx, by]) => Math.hypot(uav.x - bx, uav.y - by));
        const home = away.indexOf(Math.min(...away));
        [x, y] = [this.x(this.replay.bases[home][0]) + 26 + 24 * parked[home]++, this.y(this.replay.bases[home][1]) - 2];
        pen.drone(x, y, place, 0.8, 0.75);
        pen.words(number, x, y - 12, { font: "600 10px", fill: pen.ink.soft, halo: pen.ink.land });
        return;
      }
      if (frame.aggregator === place && done.fly === 1 && uav.presence === 1) {
        pen.to.globalAlpha = 0.35;
        pen.disc(x, y, 19 * size, pen.ink.yellow);
        pen.to.globalAlpha = 1;
      }
      pen.drone(x, y, place, size * (1 - 0.3 * uav.fallen), 1 - 0.6 * uav.fallen);
      if (uav.fallen > 0) pen.cross(x, y, size * 1.1, uav.fallen);
      pen.words(number, x - 15 * size, y - 9 * size, { font: `700 ${crowd ? 10 : 13}px`, halo: pen.ink.land });
      if (uav.fallen === 0 && !crowd) pen.battery(x, y + 19 * size, uav.charge);
      if (frame.aggregator === place && done.fly === 1 && uav.presence === 1) pen.star(x + 14 * size, y - 14 * size, 1.5 * size);
    });
  }

  hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const scene = this.scene.at(this.time);
    const near = (spots, reach) => {
      let best = -1;
      spots.forEach(([sx, sy], index) => {
        const away = Math.hypot(this.x(sx) - x, this.y(sy) - y);
        if (away < reach) [best, reach] = [index, away];
      });
      return best;
    };
    const uav = near(scene.uavs.map((one) => [one.x, one.y]), 18);
    if (uav >= 0) {
      const { status, charge, trained } = scene.uavs[uav];
      return tip.show(event.clientX, event.clientY, make("strong", {}, `UAV ${this.replay.uavs[uav]}, ${STATUS[status]}`),
        tip.row("battery", `${number(100 * charge)}\u00a0%`), tip.row("devices in this round", String(trained)));
    }
    const device = near(scene.devices.x.map((dx, index) => [dx, scene.devices.y[index]]), 9);
    if (device < 0) return tip.hide();
    const part = scene.devices.part[device];
    const did = part >= 0 ? `trained with UAV ${this.replay.uavs[part]}` : part === -1 ? "covered, not selected" : "not covered";
    return tip.show(event.clientX, event.clientY, make("strong", {}, `Device ${device * this.replay.every}`), did);
  }
}

/** How long something takes: 91 ms, 4.5 s, 2 min 3 s, 1 h 20 min. */
function spanWords(seconds) {
  const pair = (many, of, large, small) => `${Math.floor(many / of)}\u00a0${large} ${many % of}\u00a0${small}`;
  if (seconds === 0) return "0\u00a0s";
  if (seconds < 0.9995) return seconds < 1e-3 ? `${number(Number((seconds * 1e6).toPrecision(3)))}\u00a0µs` : `${number(Number((seconds * 1e3).toPrecision(3)))}\u00a0ms`;
  if (seconds < 59.95) return `${number(Number(seconds.toPrecision(3)))}\u00a0s`;
  return seconds < 3599.5 ? pair(Math.round(seconds), 60, "min", "s") : pair(Math.round(seconds / 60), 60, "h", "min");
}

const STATUS = ["active", "away", "grounded", "lost", "flying"];
const MARKS = { lost: "✕", left: "↩", returned: "↪", moved: "→", arrived: "⇥", weighed: "⚖", low: "▂" };
/** What the slider's track shows, the gravest first. */
const TRACKED = { lost: "vermillion", left: "orange", returned: "green", moved: "sky" };
