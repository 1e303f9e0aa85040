// What energy and time went into: stacked bars, one for each method.

const shareOf = (share) => (share < 0.0005 ? "<0.1\u00a0%" : `${(100 * share).toFixed(1)}\u00a0%`);

class Costs {
  constructor(place, sets) {
    Object.assign(this, { place, sets, set: 0, until: 0 });
    this.draw();
  }

  pick(label, names, chosen, change) {
    const options = names.map((name, index) => make("option", { value: index, ...(index === chosen ? { selected: "" } : {}) }, name));
    return make("label", {}, `${label} `, make("select", { onchange: (event) => change(Number(event.target.value)) }, ...options));
  }

  draw() {
    const set = this.sets[this.set];
    const choices = make("div", { class: "tabs", role: "group", "aria-label": "How far" });
    if (this.sets.length > 1) {
      choices.append(this.pick("Runs of", this.sets.map((other) => other.title), this.set, (index) => { this.set = index; this.until = 0; this.draw(); }));
    }
    if (set.spans.length > 1) {
      choices.append(...set.spans.map((span, index) => make("button", {
        type: "button", "aria-pressed": index === this.until, onclick: () => { this.until = index; this.draw(); this.place.querySelectorAll(".tabs button")[index].focus(); },
      }, span.name)));
    }
    const span = set.spans[this.until];
    const halves = [["Energy", set.energy, span.energy], ["Simulated time", set.time, span.time]]
      .map(([name, items, table]) => this.half(name, items, table, set));
    const note = span.note ? [make("p", { class: "note" }, span.note)] : [];
    this.place.replaceChildren(...(choices.children.length ? [make("div", { class: "head" }, choices)] : []), make("div", { class: "pair" }, ...halves), ...note);
  }

  half(name, items, table, set) {
    const most = Math.max(...table.rows.map((row) => row.sum ?? 0), Number.MIN_VALUE);
    const bars = table.rows.map((row, place) => {
      const who = set.rows[place];
      if (row.sum === null) return make("div", { class: "line" }, make("span", { class: "who" }, who), make("span", { class: "sum" }, "not reached"));
      const parts = items.map((item, index) => {
        const share = row.sum > 0 ? row.items[index] / row.sum : 0;
        const text = () => [make("strong", {}, `${who}: ${item.label}`), tip.row(withUnit(row.items[index], table.unit), shareOf(share))];
        return make("span", {
          style: `width:${100 * share}%;background:${colour(item.colour)}`,
          onpointermove: (event) => tip.show(event.clientX, event.clientY, ...text()), onpointerleave: () => tip.hide(),
        });
      });
      const label = items.map((item, index) => `${item.label} ${withUnit(row.items[index], table.unit)}`).join(", ");
      const bar = make("div", { class: "bar", role: "img", "aria-label": label, style: `width:${100 * row.sum / most}%` }, ...parts);
      return make("div", { class: "line" }, make("span", { class: "who" }, ...who.split(/(?<=:)/).flatMap((part) => [part, make("wbr")])), make("div", { class: "room" }, bar), make("span", { class: "sum" }, withUnit(row.sum, table.unit)));
    });
    // With one bar the key can say the numbers; with several, only what counts at all.
    const single = table.rows.length === 1 && table.rows[0].sum > 0;
    const used = items.map((item, index) => ({ ...item, index, most: Math.max(...table.rows.map((row) => row.items?.[index] ?? 0)) }))
      .filter((item) => item.most > 0).sort((a, b) => (single ? b.most - a.most : 0));
    const keys = used.map((item) => make("li", {}, make("i", { style: `background:${colour(item.colour)}` }), item.label,
      ...(single ? [` ${withUnit(item.most, table.unit)}, ${shareOf(item.most / table.rows[0].sum)}`] : [])));
    const title = [name, set.title].filter(Boolean).join(", ");
    const saves = roving(downloads(title, () => this.picture(title, used, table, set), () => this.rows(items, table, set)));
    return make("div", {}, make("div", { class: "head" }, make("h3", {}, name), saves), make("div", { class: "stack" }, ...bars), make("ul", { class: "keys" }, ...keys));
  }

  /** The bars as a file. */
  picture(title, used, table, set) {
    const most = Math.max(...table.rows.map((row) => row.sum ?? 0), Number.MIN_VALUE);
    const [ink, width] = [paint("ink"), 720];
    const bars = table.rows.flatMap((row, place) => {
      const y = 8 + 30 * place;
      let left = 160;
      const parts = row.sum === null ? [] : used.map((item) => {
        const long = 420 * row.items[item.index] / most;
        left += long;
        return make("rect", { x: left - long, y, width: long, height: 20, fill: paint(item.colour) });
      });
      const words = (x, text) => make("text", { x, y: y + 15, "font-size": 12, fill: ink }, text);
      const who = set.rows[place].length > 22 ? `${set.rows[place].slice(0, 21)}…` : set.rows[place];
      return [words(12, who), ...parts, words(left + 8, row.sum === null ? "not reached" : withUnit(row.sum, table.unit))];
    });
    return sheetOf(title, width, 8 + 30 * table.rows.length, bars, used);
  }

  /** The numbers behind them. */
  rows(items, table, set) {
    const lines = table.rows.map((row, place) => [set.rows[place], row.sum, ...items.map((_, index) => row.items[index] ?? null)]);
    return [["", `sum (${table.unit})`, ...items.map((item) => `${item.label} (${table.unit})`)], ...lines];
  }
}
