import { fixed, html, set, setText } from "../../../figures/static/dom.js";
import { visible } from "../../../figures/static/figure.js";
import { PAD, verdictText } from "./masked_words.js";

// All rows at a glance: a cell per weight, hatched where hidden, and a verdict behind each row. Mouse and finger open
// a row; with the keyboard it is one Tab stop whose arrow keys do.

const ROOMY = 8; // so many places a row may have for its cells to say word and number

/** @param {string[][]} words (B, S) @param {(row: number) => void} pick
 * @returns {{element: HTMLElement, draw: (rows: object[], row: number) => void}} */
export function weightRows(words, pick) {
  const S = words[0].length, roomy = S <= ROOMY;
  let chosen = -1;
  const rows = words.map((sentence, b) => {
    const strip = roomy ? wideStrip(sentence) : denseStrip(S);
    const badge = html("span", { class: "ms-badge" });
    const element = html("div", { class: "ms-row" }, html("span", { class: "ms-name" }, `row ${b + 1}`),
      strip.element, badge);
    element.addEventListener("click", () => pick(b));
    return { element, strip, badge };
  });
  const element = html("div", {
    class: `ms-rows${roomy ? "" : " ms-dense"}`, tabindex: 0, role: "slider", "aria-orientation": "vertical",
    "aria-label": "row whose steps are shown", "aria-valuemin": 1, "aria-valuemax": rows.length,
    "data-lm-suppress-shortcuts": "true",
  }, ...rows.map((row) => row.element));

  element.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const last = rows.length - 1;
    const to = { ArrowUp: chosen - 1, ArrowLeft: chosen - 1, ArrowDown: chosen + 1, ArrowRight: chosen + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault(); // the page would scroll
    if (to >= 0 && to <= last) pick(to);
  });

  /** @param {object[]} computed of each row: weights, mask, verdict @param {number} row the open one */
  function draw(computed, row) {
    if (chosen !== row) { // many rows scroll in a frame of their own
      const { offsetTop, offsetHeight } = rows[row].element;
      element.scrollTop = Math.min(offsetTop, Math.max(element.scrollTop, offsetTop + offsetHeight - element.clientHeight));
    }
    chosen = row;
    computed.forEach(({ weights, mask, verdict }, b) => {
      rows[b].strip.draw(weights, mask);
      const text = verdictText(verdict);
      setText(rows[b].badge, text);
      rows[b].badge.classList.toggle("ms-bad", verdict.word !== "ok");
      rows[b].element.classList.toggle("ms-open", b === row);
    });
    const { mask, verdict } = computed[row];
    const length = mask.filter(Boolean).length;
    set(element, {
      "aria-valuenow": row + 1, "aria-valuetext": `row ${row + 1}, ${length} of ${mask.length} visible: ${verdictText(verdict)}`,
    });
  }
  return { element, draw };
}

const percent = (weight) => Math.round(100 * Math.min(Math.max(weight, 0), 1)) || 0;

/** A row with a cell for each word. @param {string[]} words */
function wideStrip(words) {
  const cells = words.map(makeCell);
  return {
    element: html("span", { class: "ms-cells" }, ...cells.map((cell) => cell.element)),
    draw: (weights, mask) => cells.forEach((cell, j) => cell.draw(weights[j], mask[j])),
  };
}

/** A row of many narrow cells, painted as one background: a thousand elements would not change within a frame.
 * @param {number} S */
function denseStrip(S) {
  const veil = html("span", { class: "ms-veil" });
  const element = html("span", { class: "ms-cells" }, veil);
  const at = (j) => `${(100 * j) / S}%`;
  const shade = (weight) => (Number.isNaN(weight) ? "var(--ms-black)"
    : `color-mix(in srgb, var(--attn-weight) ${percent(weight)}%, transparent)`);
  let known = null;
  function draw(weights, mask) {
    const colours = weights.map(shade);
    const stops = colours.map((colour, j) => `${colour} ${at(j)} ${at(j + 1)}`).join(", ");
    const seen = mask.filter(Boolean).length; // the others stand behind them
    if (known === stops + seen) return;
    known = stops + seen;
    set(element, { style: `background-image: linear-gradient(to right, ${stops})` });
    set(veil, { style: `left: ${at(seen)}` });
  }
  return { element, draw };
}

/** One weight. @param {string} word */
function makeCell(word) {
  const number = html("span", { class: "ms-weight" });
  const element = html("span", { class: "ms-cell" }, html("bdi", { class: word === PAD ? "ms-word ms-pad" : "ms-word" }, visible(word)), number);
  let known = null;
  function draw(weight, seen) {
    const text = Number.isNaN(weight) ? "NaN" : fixed(weight);
    if (known === text + seen) return; // most cells stay as they are when something moves
    known = text + seen;
    setText(number, text);
    set(element, { style: `--ms-share: ${percent(weight)}%` });
    const kind = `ms-cell${seen ? "" : " ms-hidden"}${Number.isNaN(weight) ? " ms-nan" : ""}${weight > 0.6 ? " ms-firm" : ""}${
      weight > 0.82 ? " ms-strong" : ""}`;
    if (element.className !== kind) element.className = kind;
  }
  return { element, draw };
}
