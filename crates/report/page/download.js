// Charts as files: a picture in the colours on the screen, and the numbers behind it.

/** Hands a text to the reader as a file. */
function save(name, type, text) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const fileName = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "chart";

/** Two buttons; what they hand out is made when they are pressed. */
function downloads(title, picture, rows) {
  const name = fileName(title);
  const button = (ending, says, press) => make("button", { type: "button", class: "save", "data-save": ending, "aria-label": says, title: says, onclick: press }, `↓ ${ending.toUpperCase()}`);
  return make("span", { class: "saves" },
    button("svg", `Download “${title}” as a picture (SVG)`, () => save(`${name}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(picture()))),
    button("csv", `Download the numbers of “${title}” (CSV)`, () => save(`${name}.csv`, "text/csv", csv(rows()))));
}

/** Lines of cells, quoted where they must be. */
function csv(rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return `${rows.map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}

/** What a style sheet says about a drawing, written into the drawing. */
const DRAWN = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "font-size", "font-weight", "text-anchor"];

/** A copy of a drawing that needs no style sheet. */
function standalone(drawing) {
  const copy = drawing.cloneNode(true);
  const [from, to] = [drawing, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  from.forEach((node, place) => {
    const look = getComputedStyle(node);
    to[place].setAttribute("style", DRAWN.map((name) => `${name}:${look.getPropertyValue(name)}`).join(";"));
    for (const name of ["class", "tabindex", "role", "aria-label", "aria-hidden"]) to[place].removeAttribute(name);
  });
  return copy;
}

/** A sheet with a title above some drawing, and below it the names that belong to its colours. */
function sheetOf(title, width, height, drawings, names, note = "") {
  const [ink, card, soft] = ["ink", "card", "soft"].map(paint);
  const columns = Math.max(1, Math.floor(width / 220));
  const foot = 20 * Math.ceil(names.length / columns) + (names.length ? 10 : 0);
  const full = 34 + height + foot + (note ? 20 : 0);
  const words = (x, y, size, fill, text) => make("text", { x, y, "font-size": size, fill, ...(size > 12 ? { "font-weight": 600 } : {}) }, text);
  const keys = names.flatMap(({ label, colour: name, dash = "", opacity = 1, line = false }, place) => {
    const [x, y] = [12 + (place % columns) * (width / columns), 34 + height + 14 + 20 * Math.floor(place / columns)];
    const sign = line
      ? make("line", { x1: x, x2: x + 26, y1: y, y2: y, stroke: paint(name), "stroke-width": 3, "stroke-dasharray": dash, opacity })
      : make("rect", { x: x + 7, y: y - 6, width: 12, height: 12, rx: 2, fill: paint(name), opacity });
    return [sign, words(x + 33, y + 4, 12, soft, label)];
  });
  return make("svg", { width, height: full, viewBox: `0 0 ${width} ${full}`, "font-family": getComputedStyle(document.body).fontFamily },
    make("rect", { width, height: full, fill: card }), words(12, 23, 15, ink, title),
    make("g", { transform: "translate(0 34)" }, ...drawings), ...keys, ...(note ? [words(12, full - 8, 11, soft, note)] : []));
}
