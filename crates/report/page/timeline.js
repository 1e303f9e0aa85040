// How a replay's time runs: in proportion to simulated time, as far as that can be watched.

/** Seconds of watching that the median round takes. */
const ROUND_S = 2.4;
/** Devices roam between rounds, in no simulated time. */
const ROAM_S = 0.5;
/** What takes any time at all is seen for at least so long, and nothing for longer than so long. */
const [LEAST_S, MOST_S] = [0.15, 10];
/** The parts of a round, in the order of the simulation. */
const PARTS = ["wait", "roam", "train", "fly", "offload", "broadcast"];

class Timeline {
  constructor(frames) {
    const before = (place) => (place === 0 ? 0 : frames[place - 1].clock_s);
    const lengths = frames.map((frame, place) => Math.max(frame.clock_s - before(place), 0));
    const sorted = [...lengths].filter((length) => length > 0).sort((a, b) => a - b);
    /** Simulated seconds to a second of watching. */
    this.rate = sorted.length ? sorted[Math.floor(sorted.length / 2)] / ROUND_S : 1;
    this.rounds = frames.map((frame, place) => this.round(frame, before(place), lengths[place]));
  }

  /** A round's parts, each with its share of the watching (`from`, `to`) and its clock (`start`, `end`). */
  round(frame, clock, length) {
    const [wait, train, fly, offload, broadcast] = frame.spans;
    const told = wait + train + fly + offload + broadcast;
    // Where the books tell of less than the clock, devices worked meanwhile.
    const fit = told > length && told > 0 ? length / told : 1;
    const simulated = { wait, roam: 0, train: train + Math.max(length - told, 0), fly, offload, broadcast };
    const parts = PARTS.map((name) => {
      const lasts = simulated[name] * fit;
      const wanted = lasts / this.rate;
      return { name, lasts, seconds: name === "roam" ? ROAM_S : lasts > 0 ? clamp(wanted, LEAST_S, MOST_S) : 0 };
    });
    const seconds = parts.reduce((sum, part) => sum + part.seconds, 0);
    let [from, start] = [0, clock];
    for (const part of parts) {
      Object.assign(part, { from, to: from + part.seconds / seconds, start, end: start + part.lasts });
      [from, start] = [part.to, part.end];
    }
    return { seconds, parts, start: clock, end: clock + length };
  }

  part(place, share) {
    const { parts } = this.rounds[place];
    return parts.find((part) => share < part.to) ?? parts[parts.length - 1];
  }

  /** How much of a part of the round is over, 0 to 1. */
  over(place, share, name) {
    const { from, to } = this.rounds[place].parts[PARTS.indexOf(name)];
    return to > from ? clamp((share - from) / (to - from), 0, 1) : share >= to ? 1 : 0;
  }

  /** Simulated seconds at a moment. */
  clock(place, share) {
    if (share >= 1) return this.rounds[place].end;
    const { from, to, start, end } = this.part(place, share);
    return to > from ? mix(start, end, clamp((share - from) / (to - from), 0, 1)) : start;
  }

  /** How much of a round's simulated time is over. */
  elapsed(place, share) {
    const { start, end } = this.rounds[place];
    return end > start ? (this.clock(place, share) - start) / (end - start) : share >= 1 ? 1 : 0;
  }

  /** Simulated seconds to a second of watching, just now. */
  rateAt(place, share) {
    const { lasts, seconds } = this.part(place, share);
    return seconds > 0 ? lasts / seconds : 0;
  }

  /** The moment so many seconds of watching later; time runs in rounds. */
  after(time, seconds) {
    const rounds = this.rounds.length;
    while (seconds > 0 && time < rounds) {
      const place = Math.floor(time);
      const left = (place + 1 - time) * this.rounds[place].seconds;
      if (seconds < left) return time + seconds / this.rounds[place].seconds;
      [time, seconds] = [place + 1, seconds - left];
    }
    return Math.min(time, rounds);
  }
}
