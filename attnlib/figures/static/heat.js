import { fixed, html, pointerIn, set, setText, svg } from "./dom.js";
import { visible } from "./figure.js";

// Weights as a grid: a row per target step, a column per source position, the more the darker. Mouse and finger
// point at a cell; with the keyboard the grid is one Tab stop whose arrow keys choose the row.

const LETTER = 7.4; // width of a letter of 13 px, about
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;
const NUMBERS = 64; // cells up to which each says its number

/** @param {object} of
 *   name: what the grid is, for who cannot see it;
 *   rowTitle, columnTitle: what rows and columns are;
 *   least: no cell is smaller than this, in px, also where there are many;
 *   pick: (row: number) => void, a row was chosen;
 *   point: (row: number, column: number) => void, the pointer is over a cell (both -1: over none)
 * @returns {{element: HTMLElement, draw: Function}} draw returns where the first column begins, how wide one
 *   is, and how high all is */
export function heat({ name, rowTitle, columnTitle, pick, point = () => {}, least = 0 }) {
  const drawing = svg("svg", { class: "attn-heat-drawing", "aria-hidden": "true" });
  const names = svg("svg", { class: "attn-heat-names", "aria-hidden": "true" });
  const element = html("div", {
    class: "attn-heat attn-scroll", tabindex: 0, role: "slider", "aria-label": `${name}: ${rowTitle}`,
    "aria-orientation": "vertical", "data-lm-suppress-shortcuts": "true",
  }, drawing, names);
  let built = null; // the words and the marks for them
  let row = 0;

  element.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !built) return;
    const last = built.rows.length - 1;
    const to = { ArrowUp: row - 1, ArrowLeft: row - 1, ArrowDown: row + 1, ArrowRight: row + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault(); // the page would scroll
    if (to >= 0 && to <= last) pick(to);
  });
  function cellUnder(event) {
    const { x, y } = pointerIn(drawing, event);
    const j = Math.floor((x - built.x) / built.cell);
    const i = Math.floor((y - built.y) / built.cell);
    return i >= 0 && i < built.rows.length && j >= 0 && j < built.columns.length ? [i, j] : [-1, -1];
  }
  drawing.addEventListener("pointermove", (event) => { if (built && event.pointerType === "mouse") point(...cellUnder(event)); });
  drawing.addEventListener("pointerleave", () => point(-1, -1));
  drawing.addEventListener("click", (event) => {
    const [i, j] = cellUnder(event);
    if (i < 0) return;
    pick(i);
    point(i, j);
  });

  /** @param {object} figure rows: string[], columns: string[], weights: number[][] (T, S) in 0..1; row: the chosen
   *   one, or -1; gold: [i, j][], cells to outline, another array where they have changed;
   *   hidden: boolean[] of columns that are masked; largest: px that a cell may have, where several grids share the width */
  function draw({ rows, columns, weights, row: chosen, gold = [], hidden = [], largest = Infinity }) {
    row = chosen;
    const size = Math.max(Math.min(largest, naturalCell(rows, columns)), least);
    if (built && built.cell === size && same(built.columns, columns) && roomFor(rows, built)) {
      // Other words in as many rows, as when a model writes something else: the grid stays.
      rows.forEach((word, i) => { if (word !== built.rows[i]) setText(built.names.rows[i], visible(word)); });
      built.rows = [...rows];
    } else {
      built = build(rows, columns, { rowTitle, columnTitle, cell: size });
      drawing.replaceChildren(...built.parts);
      set(drawing, { width: built.width, height: built.height, viewBox: `0 0 ${built.width} ${built.height}` });
      names.replaceChildren(...built.beside);
      set(names, { width: built.x - 1, height: built.height });
    }
    const { cells, numbers, cell, x, y, outline, marks } = built;
    weights.forEach((line, i) => line.forEach((weight, j) => {
      const known = cells[i][j];
      const shade = Math.round(1000 * weight) / 1000; // a difference that no eye sees is not drawn
      if (numbers ? known.weight === weight : known.shade === shade) return;
      Object.assign(known, { weight, shade });
      known.element.setAttribute("fill-opacity", shade);
      if (!numbers) return;
      const text = numbers[i][j];
      setText(text, fixed(weight));
      // Black or white, whichever is easier to read on this cell: on the light page from .82 on, on the dark from .6.
      set(text, { class: `attn-heat-number${weight > 0.6 ? " attn-firm" : ""}${weight > 0.82 ? " attn-strong" : ""}` });
    }));
    set(outline, {
      x, y: y + Math.max(chosen, 0) * cell, width: columns.length * cell, height: cell,
      visibility: chosen < 0 ? "hidden" : "visible",
    });
    built.names.rows.forEach((text, i) => text.classList.toggle("attn-chosen", i === chosen));
    built.names.columns.forEach((text, j) => text.classList.toggle("attn-masked", Boolean(hidden[j])));
    if (built.gold !== gold) {
      built.gold = gold;
      const boxes = (kind) => gold.map(([i, j]) => svg("rect", {
        class: kind, x: x + j * cell + 1, y: y + i * cell + 1, width: cell - 3, height: cell - 3,
      }));
      marks.replaceChildren(...boxes("attn-halo"), ...boxes("attn-gold")); // dashes on a light line: seen on dark cells, too
    }
    const best = chosen < 0 ? -1 : weights[chosen].indexOf(Math.max(...weights[chosen]));
    set(element, {
      "aria-valuemin": 1, "aria-valuemax": rows.length, "aria-valuenow": Math.max(chosen, 0) + 1,
      "aria-valuetext": chosen < 0 ? "none" : !weights[chosen][best] ? `${chosen + 1}: “${rows[chosen]}” looks at nothing` : `${chosen + 1}: “${rows[chosen]}” looks most at “${columns[best]}”, ${fixed(weights[chosen][best])}`,
    });
    return { x, cell, height: built.height };
  }
  return { element, draw };
}

/** Pixels that the longest of some words takes at 13 px; Chinese and its neighbours count double. */
export function lengthOf(words) {
  return LETTER * Math.max(1, ...words.map((word) => {
    const text = visible(word);
    return [...text].length + (text.match(WIDE)?.length ?? 0);
  }));
}

const roomFor = (rows, built) => built.rows.length === rows.length && lengthOf(rows) <= built.room;
const same = (a, b) => a.length === b.length && a.every((word, n) => word === b[n]);

/** Pixels of a cell: the fewer cells, the larger. */
function naturalCell(rows, columns) {
  return rows.length * columns.length <= NUMBERS ? 38 : Math.max(rows.length, columns.length) <= 20 ? 26 : 17;
}

/** All marks of a grid, cells still empty. */
function build(rows, columns, { rowTitle, columnTitle, cell }) {
  const room = lengthOf(rows), long = lengthOf(columns);
  const upright = long <= Math.max(cell - 2, 2 * LETTER);
  const high = upright ? 18 : 0.72 * long + 16; // slanted by 45 degrees
  const x = room + 26, y = high + 22;
  const right = upright ? 8 : 0.72 * long; // room for the last slanted name
  const width = Math.ceil(x + columns.length * cell + right), height = Math.ceil(y + rows.length * cell + 4);
  const centre = (n) => (n + 0.5) * cell;
  const rowNames = rows.map((word, i) => svg("text",
    { class: "attn-heat-name", x: x - 7, y: y + centre(i) + 4.5, "text-anchor": "end" }, visible(word)));
  const columnNames = columns.map((word, j) => svg("text", upright
    ? { class: "attn-heat-name", x: x + centre(j), y: y - 7, "text-anchor": "middle" }
    : { class: "attn-heat-name", "text-anchor": "start", transform: `translate(${x + centre(j)} ${y - 7}) rotate(-45)` },
  visible(word)));
  const cells = rows.map((_, i) => columns.map((_, j) => ({
    weight: null, shade: null,
    element: svg("rect", { class: "attn-heat-cell", x: x + j * cell, y: y + i * cell, width: cell - 1, height: cell - 1 }),
  })));
  const numbers = rows.length * columns.length > NUMBERS || cell < 26 ? null : rows.map((_, i) => columns.map((_, j) => svg("text",
    { x: x + centre(j), y: y + centre(i) + 4, "text-anchor": "middle" })));
  const paper = svg("rect", { class: "attn-heat-paper", x, y, width: columns.length * cell, height: rows.length * cell });
  const outline = svg("rect", { class: "attn-heat-row" });
  const marks = svg("g");
  const columnName = svg("text", { class: "attn-heat-title", x: x + (columns.length * cell) / 2, y: 13, "text-anchor": "middle" }, columnTitle);
  const rowName = svg("text", {
    class: "attn-heat-title", transform: `translate(12 ${y + (rows.length * cell) / 2}) rotate(-90)`, "text-anchor": "middle",
  }, rowTitle);
  const cover = svg("rect", { y: y - 1, width: x - 1, height: height - y + 1 });
  return {
    rows: [...rows], columns: [...columns], room, cells, numbers, cell, x, y, width, height, outline, marks,
    names: { rows: rowNames, columns: columnNames },
    beside: [cover, rowName, ...rowNames],
    parts: [columnName, ...columnNames, paper, ...cells.flat().map(({ element }) => element), outline, marks,
      ...(numbers ?? []).flat()],
  };
}
