// The signs of the map, on a canvas: the same on the ground and in the key.

const DRONE = new Path2D("M-5,-5L5,5M5,-5L-5,5M-9.2,-6a3.2,3.2 0 1 0 6.4,0a3.2,3.2 0 1 0 -6.4,0M2.8,-6a3.2,3.2 0 1 0 6.4,0a3.2,3.2 0 1 0 -6.4,0M-9.2,6a3.2,3.2 0 1 0 6.4,0a3.2,3.2 0 1 0 -6.4,0M2.8,6a3.2,3.2 0 1 0 6.4,0a3.2,3.2 0 1 0 -6.4,0");
const STAR = new Path2D("M0,-6L1.6,-2.2L5.7,-1.9L2.6,0.8L3.5,4.9L0,2.7L-3.5,4.9L-2.6,0.8L-5.7,-1.9L-1.6,-2.2Z");
const CROSS = new Path2D("M-8,-8L8,8M8,-8L-8,8");

const chargeColour = (share) => (share < 0.2 ? "vermillion" : share < 0.5 ? "orange" : "green");

/** Draws signs in the colours that the theme has. */
class Pen {
  constructor(canvas) {
    this.canvas = canvas;
    this.to = canvas.getContext("2d");
    this.mixColours();
  }

  mixColours() {
    const names = ["ink", "soft", "faint", "line", "card", "land", "accent", "grey", "yellow", "vermillion", "orange", "green", ...DATA.uav_colours];
    this.ink = Object.fromEntries(names.map((name) => [name, paint(name)]));
  }

  /** A canvas of so many CSS pixels, sharp on any screen. */
  size(width, height) {
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.to.setTransform(scale, 0, 0, scale, 0, 0);
    Object.assign(this, { width, height });
  }

  uavInk(uav) { return this.ink[DATA.uav_colours[uav % DATA.uav_colours.length]]; }

  disc(x, y, radius, fill, stroke, width = 1) {
    const { to } = this;
    to.beginPath();
    to.arc(x, y, radius, 0, 7);
    if (fill) { to.fillStyle = fill; to.fill(); }
    if (stroke) { to.strokeStyle = stroke; to.lineWidth = width; to.stroke(); }
  }

  line(x1, y1, x2, y2) {
    this.to.beginPath();
    this.to.moveTo(x1, y1);
    this.to.lineTo(x2, y2);
    this.to.stroke();
  }

  /** What a device did: trained with a UAV, was not selected (-1), was not covered (-2). */
  device(x, y, part, radius) {
    const { ink } = this;
    if (part >= 0) this.disc(x, y, radius, this.uavInk(part), ink.card, 0.7);
    else if (part === -1) this.disc(x, y, radius * 0.8, ink.grey);
    else this.disc(x, y, radius * 0.8, ink.card, ink.grey, 1.1);
  }

  coverage(x, y, radius, uav, alpha) {
    const { to } = this;
    to.globalAlpha = 0.09 * alpha;
    this.disc(x, y, radius, this.uavInk(uav));
    to.globalAlpha = 0.65 * alpha;
    this.disc(x, y, radius, null, this.uavInk(uav), 1.2);
    to.globalAlpha = 1;
  }

  stamp(path, x, y, scale, paints) {
    const { to } = this;
    to.save();
    to.translate(x, y);
    to.scale(scale, scale);
    if (paints.fill) { to.fillStyle = paints.fill; to.fill(path); }
    if (paints.stroke) { to.strokeStyle = paints.stroke; to.lineWidth = paints.width ?? 1.5; to.stroke(path); }
    to.restore();
  }

  drone(x, y, uav, scale, alpha = 1) {
    const { to, ink } = this;
    to.globalAlpha = alpha;
    this.stamp(DRONE, x, y, scale, { fill: ink.card, stroke: ink.ink, width: 1.6 });
    this.disc(x, y, 4 * scale, this.uavInk(uav), ink.ink, 0.8);
    to.globalAlpha = 1;
  }

  cross(x, y, scale, alpha) {
    this.to.globalAlpha = alpha;
    this.stamp(CROSS, x, y, scale, { stroke: this.ink.vermillion, width: 3 });
    this.to.globalAlpha = 1;
  }

  star(x, y, scale) { this.stamp(STAR, x, y, scale, { fill: this.ink.yellow, stroke: this.ink.ink, width: 0.8 }); }

  /** A battery around a point. */
  battery(x, y, share, width = 30) {
    const { to, ink } = this;
    const [left, top, height] = [x - width / 2, y - 4, 8];
    to.fillStyle = ink.card;
    to.strokeStyle = ink.soft;
    to.lineWidth = 1;
    to.beginPath();
    to.roundRect(left, top, width, height, 2);
    to.fill();
    to.stroke();
    to.fillStyle = ink.soft;
    to.fillRect(left + width, top + 2.5, 2, 3);
    to.fillStyle = ink[chargeColour(share)];
    to.fillRect(left + 1.5, top + 1.5, Math.max((width - 3) * clamp(share, 0, 1), 0), height - 3);
  }

  base(x, y) {
    const { to, ink } = this;
    to.fillStyle = ink.ink;
    to.beginPath();
    to.roundRect(x - 9, y - 9, 18, 18, 4);
    to.fill();
    this.words("H", x, y + 4.5, { font: "700 13px", fill: ink.card });
  }

  words(text, x, y, { font = "600 12px", fill = this.ink.ink, halo = null, align = "center" } = {}) {
    const { to } = this;
    to.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
    to.textAlign = align;
    if (halo) { to.strokeStyle = halo; to.lineWidth = 3; to.lineJoin = "round"; to.strokeText(text, x, y); }
    to.fillStyle = fill;
    to.fillText(text, x, y);
  }

  /** Ground that UAVs keep out of. */
  zone(corners, obstacle) {
    const { to, ink } = this;
    const outline = () => { to.beginPath(); corners.forEach(([x, y]) => to.lineTo(x, y)); to.closePath(); };
    const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    to.save();
    outline();
    to.clip();
    to.strokeStyle = obstacle ? ink.soft : ink.vermillion;
    to.lineWidth = 1.4;
    to.globalAlpha = 0.6;
    const start = Math.max(left + top, 0);
    for (let at = start; at < Math.min(right + bottom, this.width + this.height); at += 8) this.line(at - top, top, at - bottom, bottom);
    to.restore();
    to.strokeStyle = obstacle ? ink.soft : ink.vermillion;
    to.lineWidth = 1.4;
    outline();
    to.stroke();
  }

  /** A dashed way with a head at its end. */
  arrow(way, stroke) {
    const { to } = this;
    to.strokeStyle = stroke;
    to.lineWidth = 1.8;
    to.setLineDash([7, 4]);
    way.slice(1).forEach(([x, y], place) => this.line(...way[place], x, y));
    to.setLineDash([]);
    const [[x1, y1], [x2, y2]] = way.slice(-2);
    const angle = Math.atan2(y2 - y1, x2 - x1);
    to.beginPath();
    for (const turn of [2.6, -2.6]) {
      to.moveTo(x2, y2);
      to.lineTo(x2 + 9 * Math.cos(angle + turn), y2 + 9 * Math.sin(angle + turn));
    }
    to.stroke();
  }

  link(x1, y1, x2, y2, alpha = 0.55, shift = 0) {
    const { to } = this;
    to.globalAlpha = alpha;
    to.strokeStyle = this.ink.ink;
    to.lineWidth = 1.6;
    to.setLineDash([8, 5]);
    to.lineDashOffset = shift;
    this.line(x1, y1, x2, y2);
    to.setLineDash([]);
    to.globalAlpha = 1;
  }
}

/** The key of the map: a sign and what it means. */
const SIGNS = [
  ["trained, in its UAV's colour", (pen) => [0, 1, 2].forEach((uav) => pen.device(6 + 9 * uav, 10, uav, 4))],
  ["covered, not selected", (pen) => pen.device(15, 10, -1, 4.5)],
  ["not covered", (pen) => pen.device(15, 10, -2, 4.5)],
  ["UAV", (pen) => pen.drone(15, 10, 0, 0.9)],
  ["aggregator of the round", (pen) => pen.star(15, 10, 1.4)],
  ["model exchange", (pen) => pen.link(1, 10, 29, 10)],
  ["flight to a new position", (pen) => pen.arrow([[1, 10], [27, 10]], pen.ink.accent)],
  ["UAV lost", (pen) => { pen.drone(15, 10, 0, 0.8, 0.35); pen.cross(15, 10, 0.9, 1); }],
  ["base", (pen) => pen.base(15, 10)],
];

/** And of zones, where there are any. */
const ZONE_SIGNS = [
  ["no-fly zone", (pen) => pen.zone([[5, 3], [25, 3], [25, 17], [5, 17]], false)],
  ["obstacle", (pen) => pen.zone([[5, 3], [25, 3], [25, 17], [5, 17]], true)],
];
