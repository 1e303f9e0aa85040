// Curves with bands, groups of bars with whiskers, and dots.

/** Two seeds have intervals of many times their distance: a band of those hides all the rest. */
const BAND_SEEDS = 3;

/** Whether the runs behind a mean end at different places. */
const apart = (series) => series.ends.length === 2 && series.ends[0] < series.ends[1];

/** Pixels that a name in the middle below a point needs to either side; a long one is cut short, or broken at its commas. */
const overhang = (label) => 3.6 * clamp(Math.max(...label.split(", ").map((line) => line.length)), 0, 16);

/** Puts a chart into its place and keeps it as wide as that. */
class Chart {
  constructor(place, data) {
    Object.assign(this, { place, data, view: 0, hidden: new Set(), at: null });
    const names = data.views.map((view, index) => make("button", {
      type: "button", "aria-pressed": index === 0, onclick: () => this.choose(index),
    }, view.name));
    this.tabs = names.length > 1 ? roving(make("div", { class: "tabs", role: "group", "aria-label": "What runs along the bottom" }, ...names)) : null;
    this.sheet = make("svg", {
      tabindex: 0, role: "img", "aria-label": `${data.title}. Arrow keys read the values.`,
      onpointermove: (event) => this.hover(event), onpointerdown: (event) => this.hover(event),
      onpointerleave: () => this.point(null), onblur: () => this.point(null),
      onkeydown: (event) => this.key(event),
    });
    const legend = roving(make("div", { class: "legend", role: "group", "aria-label": "Curves shown; arrow keys go from one to the next" },
      ...data.series.map((series, index) => this.legendEntry(series, index))));
    const saves = roving(downloads(data.title, () => this.picture(), () => this.rows()));
    const head = make("div", { class: "head" }, make("h3", {}, data.title), ...(this.tabs ? [this.tabs] : []));
    const foot = make("div", { class: "foot" }, ...(data.series.length > 1 ? [legend] : []), saves);
    this.note = make("p", { class: "note" });
    place.replaceChildren(head, this.sheet, foot, this.note);
    new ResizeObserver(() => this.draw()).observe(place);
  }

  legendEntry(series, index) {
    const sample = make("svg", { viewBox: "0 0 26 12", "aria-hidden": "true" }, this.data.kind === "bars"
      ? make("rect", { x: 6, width: 14, height: 12, rx: 2, style: `fill:${colour(series.colour)};opacity:${series.opacity}` })
      : this.data.kind === "dots" ? make("circle", { cx: 13, cy: 6, r: 4.5, style: `fill:${colour(series.colour)};opacity:${series.opacity}` })
      : make("line", { x1: 0, x2: 26, y1: 6, y2: 6, "stroke-width": 3, "stroke-dasharray": series.dash, style: `stroke:${colour(series.colour)};opacity:${series.opacity}` }));
    return make("button", { type: "button", "aria-pressed": true, onclick: (event) => {
      const shown = this.hidden.delete(index);
      if (!shown) this.hidden.add(index);
      event.currentTarget.setAttribute("aria-pressed", shown);
      this.draw();
    } }, sample, series.label);
  }

  choose(index) {
    this.view = index;
    this.at = null;
    [...this.tabs.children].forEach((tab, place) => tab.setAttribute("aria-pressed", place === index));
    this.draw();
  }

  get axes() { return this.data.views[this.view]; }

  /** Series that are shown, with their points of this view. */
  shown() {
    return this.data.series
      .map((series, index) => ({ ...series, index, points: this.axes.points[index], ends: this.axes.ends[index] ?? [] }))
      .filter((series) => !this.hidden.has(series.index));
  }

  draw() {
    const width = Math.max(this.place.clientWidth, 220);
    const height = clamp(width * 0.56, 230, 360);
    const { x: xAxis, y: yAxis } = this.axes;
    const all = this.shown().flatMap((series) => series.points);
    const solid = all.filter((point) => point[1] !== null);
    const bars = this.data.kind === "bars";
    const yTicks = solid.length ? ticks(...this.span(solid, bars), 5, yAxis.whole) : [0, 1];
    const labels = yTicks.map((value) => number(value));
    const named = xAxis.ticks.length > 0;
    const ends = named && !bars ? [xAxis.ticks[0], xAxis.ticks.at(-1)].map((tick) => overhang(tick.label)) : [0, 0];
    const frame = {
      left: Math.max(30 + 7 * Math.max(...labels.map((text) => text.length)), ends[0]),
      right: width - Math.max(14, ends[1]), top: 10, bottom: height - 52,
    };
    const xs = solid.map((point) => point[0]);
    let [from, to] = xs.length ? [Math.min(...xs), Math.max(...xs)] : [0, 1];
    if (bars || named) {
      const places = xAxis.ticks.map((tick) => tick.at);
      [from, to] = [Math.min(from, ...places), Math.max(to, ...places)];
    }
    if (bars) { from -= 0.5; to += 0.5; }
    if (to === from) to = from + 1;
    // No dot is cut in half.
    if (this.data.kind === "dots") [from, to] = [from - 0.03 * (to - from), to + 0.03 * (to - from)];
    const x = (value) => mix(frame.left, frame.right, (value - from) / (to - from));
    const [bottom, top] = [yTicks[0], yTicks[yTicks.length - 1]];
    const y = (value) => mix(frame.bottom, frame.top, (clamp(value, bottom, top) - bottom) / (top - bottom));
    Object.assign(this, { frame, x, y, from, to, bottom, top });

    const grid = make("g", { class: "grid" }, ...yTicks.map((value) => make("line", { x1: frame.left, x2: frame.right, y1: y(value), y2: y(value) })));
    const words = make("g", {});
    yTicks.forEach((value, place) => words.append(make("text", { x: frame.left - 8, y: y(value) + 4, "text-anchor": "end" }, labels[place])));
    const xTicks = named ? xAxis.ticks : ticks(from, to, clamp(Math.floor(width / 90), 3, 10), xAxis.whole)
      .filter((value) => value >= from && value <= to).map((value) => ({ at: value, label: number(value) }));
    const room = (frame.right - frame.left) / Math.max(xTicks.length, 1) / 6.2;
    for (const tick of xTicks) {
      const fits = (text) => (text.length > room && named ? `${text.slice(0, Math.max(2, Math.floor(room) - 1))}…` : text);
      const lines = tick.label.length > room && named ? tick.label.split(", ").map(fits) : [tick.label];
      words.append(make("line", { class: "axis", x1: x(tick.at), x2: x(tick.at), y1: frame.bottom, y2: frame.bottom + 4 }));
      words.append(make("text", { y: frame.bottom + 18, "text-anchor": "middle" }, make("title", {}, tick.label),
        ...lines.slice(0, 2).map((line, place) => make("tspan", { x: x(tick.at), dy: place * 13 }, line))));
    }
    words.append(make("line", { class: "axis", x1: frame.left, x2: frame.right, y1: frame.bottom, y2: frame.bottom }));
    words.append(make("text", { x: (frame.left + frame.right) / 2, y: height - 5, "text-anchor": "middle" }, xAxis.label));
    const middle = (frame.top + frame.bottom) / 2;
    words.append(make("text", { x: 13, y: middle, "text-anchor": "middle", transform: `rotate(-90 13 ${middle})` }, yAxis.label));

    this.sheet.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.sheet.setAttribute("height", height);
    const marks = bars ? this.bars() : this.data.kind === "dots" ? this.dots() : [...this.curves(), ...this.ends()];
    this.note.textContent = bars || !this.shown().some((series) => apart(series)) ? ""
      : "○ the first of the runs behind a curve ends, ◆ the last: each keeps its last accuracy from its end on.";
    this.mark = make("g", { "aria-hidden": "true" });
    this.sheet.replaceChildren(grid, words, ...marks, this.mark);
    if (!solid.length) this.sheet.append(make("text", { x: width / 2, y: middle, "text-anchor": "middle" }, "nothing to show"));
  }

  /** From where to where values are shown. Intervals of few seeds can be as wide as they like: what no value can be, and what would
      press the rest flat, is cut off. */
  span(points, bars) {
    const means = points.map((point) => point[1]);
    const [least, most] = [Math.min(...means, bars ? 0 : Infinity), Math.max(...means, bars ? 0 : -Infinity)];
    const whole = this.axes.y.unit === "%" && most <= 100 ? 100 : Infinity;
    const [floor, ceiling] = least < 0 ? [-Infinity, Infinity] : [0, Math.min(2 * most, whole)];
    const ends = points.filter((point) => bars || point[4] >= BAND_SEEDS).flatMap((point) => [point[2], point[3]]).filter((value) => value !== null).map((value) => clamp(value, floor, ceiling));
    return [Math.min(least, ...ends), Math.max(most, ...ends)];
  }

  /** What values can be, whatever their interval says. */
  possible() {
    const means = this.shown().flatMap((series) => series.points.map((point) => point[1])).filter((value) => value !== null);
    if (Math.min(...means, 0) < 0) return [-Infinity, Infinity];
    return [0, this.axes.y.unit === "%" && Math.max(...means, 0) <= 100 ? 100 : Infinity];
  }

  /** Marks where the first and the last run behind a mean end. */
  ends() {
    const { x, y } = this;
    return this.shown().filter(apart).flatMap((series) => {
      const known = series.points.filter((point) => point[1] !== null);
      const spot = (end) => {
        const right = known.find((point) => point[0] >= end) ?? known[known.length - 1];
        const left = known.findLast((point) => point[0] <= end) ?? right;
        const way = right[0] > left[0] ? (end - left[0]) / (right[0] - left[0]) : 0;
        return [x(end), y(mix(left[1], right[1], way))];
      };
      const [[x1, y1], [x2, y2]] = series.ends.map(spot);
      return [
        make("circle", { cx: x1, cy: y1, r: 4.2, "stroke-width": 1.8, "data-end": "first", style: `fill:var(--card);stroke:${colour(series.colour)}` }),
        make("path", { d: `M${x2},${y2 - 6}l6,6l-6,6l-6,-6Z`, "data-end": "last", style: `fill:${colour(series.colour)};stroke:var(--card)` }),
      ];
    });
  }

  /** The drawing as a file. */
  picture() {
    const { width, height } = this.sheet.viewBox.baseVal;
    this.point(null);
    const names = this.data.series.length > 1 ? this.shown().map((series) => ({ ...series, line: this.data.kind === "lines" })) : [];
    return sheetOf(this.data.title, width, height, [standalone(this.sheet)], names, this.note.textContent);
  }

  /** The numbers of this view. */
  rows() {
    const { x: xAxis, y: yAxis } = this.axes;
    const at = (value) => xAxis.ticks.find((tick) => tick.at === value)?.label ?? value;
    const lines = this.shown().flatMap((series) => series.points.map((point) => [series.label, at(point[0]), ...point.slice(1)]));
    return [["series", xAxis.label, yAxis.label, "95 % from", "95 % to", "runs", "of runs"], ...lines];
  }

  curves() {
    const { x, y } = this;
    const [floor, ceiling] = this.possible();
    const edge = (value) => y(clamp(value, floor, ceiling));
    return this.shown().flatMap((series) => {
      const points = series.points.filter((point) => point[1] !== null);
      const banded = points.filter((point) => point[2] !== null && point[4] >= BAND_SEEDS);
      const style = `stroke:${colour(series.colour)};opacity:${series.opacity}`;
      const outline = [...banded.map((p) => [x(p[0]), edge(p[3])]), ...banded.reverse().map((p) => [x(p[0]), edge(p[2])])];
      const path = points.map((p, place) => `${place ? "L" : "M"}${x(p[0]).toFixed(1)},${y(p[1]).toFixed(1)}`).join("");
      return [
        make("polygon", { points: outline.map((spot) => spot.map((v) => v.toFixed(1)).join()).join(" "), style: `fill:${colour(series.colour)};opacity:.16` }),
        make("path", { d: path, fill: "none", "stroke-width": 2.2, "stroke-linejoin": "round", "stroke-dasharray": series.dash, style }),
        ...(points.length <= 40 ? points.map((p) => make("circle", { cx: x(p[0]), cy: y(p[1]), r: 2.6, style: `fill:${colour(series.colour)}` })) : []),
      ];
    });
  }

  dots() {
    const { x, y } = this;
    return this.shown().map((series) => make("g", { style: `fill:${colour(series.colour)};opacity:${series.opacity}` },
      ...series.points.filter((p) => p[1] !== null).map((p) => make("circle", { cx: x(p[0]).toFixed(1), cy: y(p[1]).toFixed(1), r: 3.2 }))));
  }

  bars() {
    const { x, y, bottom, top } = this;
    const shown = this.shown();
    const width = 0.8 / Math.max(shown.length, 1);
    // An interval that goes on beyond the axis ends in an arrow head.
    const cap = (centre, value) => (value < bottom ? `M${centre - 4},${y(bottom) - 6}l4,6l4,-6` : value > top ? `M${centre - 4},${y(top) + 6}l4,-6l4,6` : `M${centre - 4},${y(value)}h8`);
    return shown.flatMap((series, place) => series.points.flatMap((p) => {
      const left = x(p[0] - 0.4 + place * width);
      const right = x(p[0] - 0.4 + (place + 1) * width);
      const centre = (left + right) / 2;
      const highest = y(Math.max(p[1] ?? 0, p[3] ?? 0));
      const missed = p[4] === p[5] ? [] : [make("text", { x: centre, y: highest - 4, "text-anchor": "middle" }, `${p[4]}/${p[5]}`,
        make("title", {}, `${p[4]} of ${p[5]} seeds got there`))];
      if (p[1] === null) return missed;
      const [above, below] = [Math.min(y(p[1]), y(0)), Math.max(y(p[1]), y(0))];
      const whisker = p[2] === null ? [] : [make("path", {
        d: `M${centre},${y(p[2])}V${y(p[3])}${cap(centre, p[2])}${cap(centre, p[3])}`, style: "stroke:var(--ink)", fill: "none",
      })];
      const look = `fill:${colour(series.colour)};opacity:${series.opacity}`;
      return [make("rect", { x: left + 1, y: above, width: Math.max(right - left - 2, 1), height: Math.max(below - above, 0.5), rx: 2, style: look }), ...whisker, ...missed];
    }));
  }

  /** Every x at which some series has a point. */
  stops() {
    const all = this.shown().flatMap((series) => series.points.filter((p) => p[1] !== null).map((p) => p[0]));
    return [...new Set(all)].sort((a, b) => a - b);
  }

  hover(event) {
    const box = this.sheet.getBoundingClientRect();
    const spot = (event.clientX - box.left) * (this.sheet.viewBox.baseVal.width / box.width);
    const wanted = mix(this.from, this.to, (spot - this.frame.left) / (this.frame.right - this.frame.left));
    const stops = this.stops();
    if (!stops.length) return;
    this.point(stops.reduce((best, stop) => (Math.abs(stop - wanted) < Math.abs(best - wanted) ? stop : best)), event.clientY);
  }

  key(event) {
    const stops = this.stops();
    const now = stops.indexOf(this.at);
    const next = { ArrowRight: now + 1, ArrowLeft: now < 0 ? stops.length - 1 : now - 1, Home: 0, End: stops.length - 1 }[event.key];
    if (event.key === "Escape") return this.point(null);
    if (next === undefined || !stops.length) return;
    event.preventDefault();
    this.point(stops[clamp(next, 0, stops.length - 1)]);
  }

  /** Reads the values at an x: of each series the last point at or before it. */
  point(at, clientY) {
    this.at = at;
    this.mark?.replaceChildren();
    if (at === null) return tip.hide();
    const { x, y, frame } = this;
    const { x: xAxis, y: yAxis } = this.axes;
    const rows = [];
    for (const series of this.shown()) {
      const points = series.points.filter((p) => p[1] !== null);
      const found = this.data.kind !== "lines" || xAxis.ticks.length ? points.find((p) => p[0] === at) : points.findLast((p) => p[0] <= at);
      if (!found) continue;
      if (this.data.kind !== "bars") this.mark.append(make("circle", { cx: x(found[0]), cy: y(found[1]), r: 4.5, style: `fill:${colour(series.colour)};stroke:var(--card);stroke-width:1.5` }));
      const interval = found[2] === null ? "" : `${number(found[2])} – ${number(found[3])}`;
      const missed = found[5] > found[4] ? `${found[4]} of ${found[5]} seeds` : "";
      rows.push({ value: found[1], row: tip.row(series.label, withUnit(found[1], yAxis.unit), series.colour, [interval, missed].filter(Boolean).join(", ")) });
    }
    rows.sort((a, b) => b.value - a.value);
    if (this.data.kind !== "bars") this.mark.prepend(make("line", { class: "cursor", x1: x(at), x2: x(at), y1: frame.top, y2: frame.bottom }));
    const named = xAxis.ticks.find((tick) => tick.at === at);
    const box = this.sheet.getBoundingClientRect();
    const scale = box.width / this.sheet.viewBox.baseVal.width;
    tip.show(box.left + x(at) * scale, clientY ?? box.top + box.height / 2,
      make("strong", {}, named ? named.label : `${xAxis.name} ${withUnit(at, xAxis.unit)}`), ...rows.map((row) => row.row));
  }
}
