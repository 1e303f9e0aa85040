"use strict";
// Shared by everything on the page. Text from users only ever becomes text nodes.

const DATA = JSON.parse(document.getElementById("data").textContent);

/** An element with attributes, listeners (`onclick`) and children; strings become text. */
function make(name, attributes = {}, ...children) {
  const drawn = ["svg", "g", "path", "line", "circle", "rect", "text", "title", "tspan", "polygon"].includes(name);
  const node = drawn ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

const colour = (name) => `var(--${name})`;

/** The colour as the theme has it now, for canvases. */
function paint(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Four significant digits without trailing zeros, thousands apart. */
function number(value) {
  if (value === null || !Number.isFinite(value)) return "n/a";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e9)) return value.toExponential(2);
  const decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : 4;
  const [whole, part = ""] = value.toFixed(decimals).split(".");
  const digits = part.replace(/0+$/, "");
  const apart = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") : whole;
  return digits ? `${apart}.${digits}` : apart;
}

/** A value of an axis or a column; an energy far from its column's unit is told in the one that fits. */
function withUnit(value, unit) {
  const energy = DATA.energy_units.find(([symbol]) => symbol === unit);
  if (!energy || value === null || !Number.isFinite(value)) return unit ? `${number(value)}\u00a0${unit}` : number(value);
  const size = Math.abs(value);
  return size === 0 || (size >= 0.01 && size < 1e5) ? `${number(value)}\u00a0${unit}` : energyWords(value * energy[1]);
}

/** Joules in the unit that fits: the largest of which there is at least one. */
function energyWords(joules) {
  if (joules === 0) return "0\u00a0J";
  const fits = DATA.energy_units.findLast(([, size]) => Math.abs(joules) >= 0.9995 * size) ?? DATA.energy_units[0];
  return `${number(Number((joules / fits[1]).toPrecision(3)))}\u00a0${fits[0]}`;
}

/** So many of something: 1 device, 12 devices. */
const counted = (many, one) => `${number(many)} ${one}${many === 1 ? "" : "s"}`;

/** A moment of a run that takes so long: 12.34 s, or 0:04:45.2, with as many decimals as its rounds need. */
function clockWords(seconds, whole, round) {
  const decimals = clamp(Math.ceil(1 - Math.log10(Math.max(round, 1e-9))), 0, 6);
  if (whole < 120) return `${seconds.toFixed(Math.max(decimals, 1))}\u00a0s`;
  // Rounded before it is taken apart, so that there are never 60 seconds.
  const rounded = Number(seconds.toFixed(Math.min(decimals, 1)));
  const [hours, minutes] = [Math.floor(rounded / 3600), Math.floor((rounded % 3600) / 60)];
  const rest = (rounded % 60).toFixed(Math.min(decimals, 1));
  return `${hours}:${String(minutes).padStart(2, "0")}:${rest.padStart(decimals ? 4 : 2, "0")}`;
}

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const mix = (from, to, share) => from + (to - from) * share;

/** Round values from at or below `low` to at or above `high`; whole numbers where something is counted. */
function ticks(low, high, most, whole = false) {
  if (!(high > low)) high = low + 1;
  const raw = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const fitting = power * ([1, 2, 5, 10].find((factor) => factor * power >= raw * (1 - 1e-9)) ?? 10);
  const step = whole ? Math.max(fitting, 1) : fitting;
  const values = [];
  for (let i = Math.floor(low / step + 1e-9); i * step < high + step * (1 - 1e-9); i++) {
    values.push(Number((i * step).toPrecision(12)));
  }
  return values;
}

/** Makes one stop of the Tab key of some buttons: arrow keys go from one to the next. */
function roving(group) {
  const stops = () => [...group.querySelectorAll("button")];
  const only = (chosen) => stops().forEach((stop) => stop.setAttribute("tabindex", stop === chosen ? 0 : -1));
  only(stops()[0]);
  group.addEventListener("focusin", (event) => only(event.target.closest("button")));
  group.addEventListener("keydown", (event) => {
    const all = stops();
    const now = all.indexOf(event.target.closest("button"));
    const next = { ArrowRight: now + 1, ArrowDown: now + 1, ArrowLeft: now - 1, ArrowUp: now - 1, Home: 0, End: all.length - 1 }[event.key];
    if (now < 0 || next === undefined) return;
    event.preventDefault();
    all[clamp(next, 0, all.length - 1)].focus();
  });
  return group;
}

/** Tables that are wider than their place can be focused and say that they scroll. */
function watchWidth(box) {
  const hint = make("p", { class: "hint", hidden: "" }, "Scrolls sideways \u2194");
  box.after(hint);
  const look = () => {
    const wide = box.scrollWidth > box.clientWidth + 1;
    hint.hidden = !wide;
    const said = { tabindex: 0, role: "region", "aria-label": "Table, scrolls sideways" };
    for (const [name, value] of Object.entries(said)) wide ? box.setAttribute(name, value) : box.removeAttribute(name);
  };
  new ResizeObserver(look).observe(box);
  look();
}

const tip = {
  box: document.getElementById("tip"),
  /** Shows lines of nodes or strings beside a point of the window. */
  show(x, y, ...lines) {
    this.box.replaceChildren(...lines);
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    const right = x + 16 + width < innerWidth ? x + 16 : x - 16 - width;
    this.box.style.left = `${clamp(right, 4, Math.max(4, innerWidth - width - 4))}px`;
    this.box.style.top = `${clamp(y - height - 12, 4, innerHeight - height - 4)}px`;
  },
  hide() { this.box.hidden = true; },
  row(name, value, look, more) {
    const left = make("span", {}, ...(look ? [make("i", { class: "dot", style: `background:${colour(look)}` })] : []), name);
    const right = make("span", {}, value);
    if (more) right.append(make("span", { class: "soft" }, ` ${more}`));
    return make("div", { class: "row" }, left, right);
  },
};

const repaints = [];
const theme = {
  system: matchMedia("(prefers-color-scheme: dark)"),
  set(name) {
    document.documentElement.dataset.theme = name;
    document.getElementById("theme").textContent = name === "dark" ? "Light" : "Dark";
    document.getElementById("theme").setAttribute("aria-label", `Change to ${name === "dark" ? "light" : "dark"} colours`);
    repaints.forEach((repaint) => repaint());
  },
  start() {
    const ofSystem = () => this.set(this.system.matches ? "dark" : "light");
    ofSystem();
    this.system.addEventListener("change", ofSystem);
    document.getElementById("theme").addEventListener("click", () => {
      this.set(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    });
  },
};
