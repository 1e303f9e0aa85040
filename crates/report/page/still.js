// A map that does not move.

class StillMap {
  constructor(place, data) {
    Object.assign(this, { place, data, canvas: make("canvas", { role: "img", "aria-label": `Map of ${counted(data.devices.length, "device")} and ${counted(data.uavs.length, "UAV")}` }) });
    place.append(this.canvas);
    this.pen = new Pen(this.canvas);
    new ResizeObserver(() => this.draw()).observe(place);
    repaints.push(() => { this.pen.mixColours(); this.draw(); });
  }

  draw() {
    const { pen, data } = this;
    const [width, height] = data.area;
    const wide = Math.max(this.place.clientWidth, 200);
    // Circles that leave the area are seen whole, unless the area would become a dot.
    const most = Math.max(width, height);
    const bounds = [0, width, 0, height];
    for (const [atX, atY] of data.uavs.map((uav) => uav.at)) {
      bounds[0] = Math.min(bounds[0], Math.max(atX - data.radius, -most));
      bounds[1] = Math.max(bounds[1], Math.min(atX + data.radius, width + most));
      bounds[2] = Math.min(bounds[2], Math.max(atY - data.radius, -most));
      bounds[3] = Math.max(bounds[3], Math.min(atY + data.radius, height + most));
    }
    const [across, up] = [bounds[1] - bounds[0], bounds[3] - bounds[2]];
    const scale = (wide - 20) / Math.max(across, 0.6 * up);
    const tall = up * scale + 20;
    this.canvas.style.height = `${tall}px`;
    pen.size(wide, tall);
    const left = (wide - across * scale) / 2;
    const x = (metres) => left + (metres - bounds[0]) * scale;
    const y = (metres) => tall - 10 - (metres - bounds[2]) * scale;
    pen.to.fillStyle = pen.ink.land;
    pen.to.fillRect(x(0), y(height), width * scale, height * scale);
    data.uavs.forEach((uav) => pen.coverage(x(uav.at[0]), y(uav.at[1]), data.radius * scale, uav.number - 1, 1));
    for (const [dx, dy] of data.devices) {
      const covered = data.uavs.some((uav) => Math.hypot(uav.at[0] - dx, uav.at[1] - dy) <= data.radius);
      pen.device(x(dx), y(dy), covered ? -1 : -2, data.devices.length > 400 ? 2.2 : 3.6);
    }
    data.uavs.forEach((uav) => {
      if (uav.from) pen.arrow([uav.from, uav.at].map((end) => [x(end[0]), y(end[1])]), pen.ink.accent);
      pen.drone(x(uav.at[0]), y(uav.at[1]), uav.number - 1, 1);
      pen.words(String(uav.number), x(uav.at[0]) - 14, y(uav.at[1]) - 8, { halo: pen.ink.land });
    });
  }
}
