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

const withUnit = (value, unit) => (unit ? `${number(value)}\u00a0${unit}` : number(value));

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const mix = (from, to, share) => from + (to - from) * share;

/** Round values from at or below `low` to at or above `high`. */
function ticks(low, high, most) {
  if (!(high > low)) high = low + 1;
  const raw = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= raw * (1 - 1e-9)) ?? 10);
  const values = [];
  for (let i = Math.floor(low / step + 1e-9); i * step < high + step * (1 - 1e-9); i++) {
    values.push(Number((i * step).toPrecision(12)));
  }
  return values;
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
