// A map that does not move.

class StillMap {
  constructor(place, data) {
    Object.assign(this, { place, data, canvas: make("canvas", { role: "img", "aria-label": `Map of ${data.devices.length} devices and ${data.uavs.length} UAVs` }) });
    place.append(this.canvas);
    this.pen = new Pen(this.canvas);
    new ResizeObserver(() => this.draw()).observe(place);
    repaints.push(() => { this.pen.mixColours(); this.draw(); });
  }

  draw() {
    const { pen, data } = this;
    const [width, height] = data.area;
    const wide = Math.max(this.place.clientWidth, 200);
    const scale = (wide - 20) / Math.max(width, 0.6 * height);
    const tall = height * scale + 20;
    this.canvas.style.height = `${tall}px`;
    pen.size(wide, tall);
    const left = (wide - width * scale) / 2;
    const x = (metres) => left + metres * scale;
    const y = (metres) => tall - 10 - metres * scale;
    pen.to.fillStyle = pen.ink.land;
    pen.to.fillRect(x(0), y(height), width * scale, height * scale);
    data.uavs.forEach((uav) => pen.coverage(x(uav.at[0]), y(uav.at[1]), data.radius * scale, uav.number - 1, 1));
    for (const [dx, dy] of data.devices) {
      const covered = data.uavs.some((uav) => Math.hypot(uav.at[0] - dx, uav.at[1] - dy) <= data.radius);
      pen.device(x(dx), y(dy), covered ? -1 : -2, data.devices.length > 400 ? 2.2 : 3.6);
    }
    data.uavs.forEach((uav) => {
      if (uav.from) pen.arrow(x(uav.from[0]), y(uav.from[1]), x(uav.at[0]), y(uav.at[1]), pen.ink.accent);
      pen.drone(x(uav.at[0]), y(uav.at[1]), uav.number - 1, 1);
      pen.words(String(uav.number), x(uav.at[0]) - 14, y(uav.at[1]) - 8, { halo: pen.ink.land });
    });
  }
}
