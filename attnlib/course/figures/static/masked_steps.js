import { fixed, freshId, html, set, setText } from "../../../figures/static/dom.js";
import { visible } from "../../../figures/static/figure.js";
import { PAD, short } from "./masked_words.js";

// One row, from left to right: the raw score to move, the score as it is stored, what goes into the softmax, minus the
// largest, exp, the softmax and the weight. Under each column what it comes to.

const COLUMNS = ["e", "into", "shifted", "exp", "softmax", "weights"];
const STEP = 0.1; // of an arrow key

/** @param {number} S places @param {(place: number, score: number) => void} move
 * @returns {{element: HTMLElement, draw: Function}} */
export function stepTable(S, move) {
  const head = Object.fromEntries(COLUMNS.map((name) => [name, html("th", { scope: "col", class: `ms-${name}` })]));
  const format = html("span");
  head.e.append(html("var", {}, "e"), " in ", format);
  head.into.append("goes in");
  head.exp.append("exp");
  head.softmax.append("softmax");
  head.weights.append("weight ", html("var", { class: "attn-weight" }, "α"), " (| right)");
  const rows = Array.from({ length: S }, (_, j) => makeRow(j, move));
  const foot = Object.fromEntries(COLUMNS.map((name) => [name, html("td", { class: `ms-${name}` })]));
  const element = html("table", { class: "ms-steps" },
    html("caption", {}, "The steps of the open row"),
    html("thead", {}, html("tr", {}, html("th", { scope: "col", class: "ms-place" }, "place"),
      html("th", { scope: "col", class: "ms-raw" }, "score to move"), ...COLUMNS.map((name) => head[name]))),
    html("tbody", {}, ...rows.map((row) => row.element)),
    html("tfoot", {}, html("tr", {}, html("th", { scope: "row", class: "ms-place ms-sum", colspan: 2 }, "together"),
      ...COLUMNS.map((name) => foot[name]))));
  let widest = 0;

  /** @param {object} row of computed() @param {string[]} words (S) @param {number[]} scores (S), raw
   * @param {number} limit the sliders reach from -limit to limit
   * @param {string} precision the scores are stored in
   * @param {{shifts: boolean, keeps: boolean}} shown which steps there are */
  function draw(row, { words, scores, limit, precision, shifts, keeps }) {
    setText(format, precision);
    widest = Math.max(widest, limit); // a slider that shrank while it is held would jump
    setText(head.shifted, shifts ? `− ${row.largest < 0 ? `(${short(row.largest)})` : short(row.largest)}` : "");
    element.classList.toggle("ms-no-shift", !shifts);
    element.classList.toggle("ms-no-keep", !keeps);
    rows.forEach((line, j) => line.draw(row, { word: words[j], score: scores[j], limit: widest }));
    setText(foot.into, shifts ? `largest ${short(row.largest)}` : "");
    setText(foot.exp, `sum ${short(row.total)}`);
    setText(foot.softmax, keeps ? `left ${short(row.kept)}` : "");
    setText(foot.weights, `sum ${short(row.weights.reduce((sum, weight) => sum + weight, 0))}`);
    foot.into.classList.toggle("ms-nan", shifts && !Number.isFinite(row.largest));
    foot.exp.classList.toggle("ms-nan", !(row.total > 0 && row.total < Infinity));
    foot.weights.classList.toggle("ms-nan", row.weights.some(Number.isNaN));
  }
  return { element, draw };
}

function makeRow(j, move) {
  const input = html("input", { type: "range", id: freshId("score"), step: STEP, "data-lm-suppress-shortcuts": "true" });
  input.addEventListener("input", () => move(j, Number(input.value)));
  const name = html("bdi", {}), state = html("span", { class: "attn-spoken" });
  const cells = Object.fromEntries(COLUMNS.map((column) => [column, html("td", { class: `ms-${column}` })]));
  const number = html("span", { class: "ms-number" }), filling = html("span", { class: "ms-filling" });
  const goal = html("span", { class: "ms-goal" });
  cells.weights.append(number, html("span", { class: "ms-bar", "aria-hidden": "true" }, filling, goal));
  const label = html("label", { for: input.id }, name, state);
  const element = html("tr", {}, html("th", { scope: "row", class: "ms-place" }, label),
    html("td", { class: "ms-raw" }, input), ...COLUMNS.map((column) => cells[column]));

  function draw(row, { word, score, limit }) {
    setText(name, visible(word));
    name.classList.toggle("ms-pad", word === PAD);
    setText(state, `, score of place ${j + 1}${row.mask[j] ? "" : ", hidden"}`);
    element.classList.toggle("ms-hidden", !row.mask[j]);
    if (Number(input.max) !== limit || Number(input.min) !== -limit) set(input, { min: -limit, max: limit });
    const spoken = `${fixed(score, 1)}, weight ${short(row.weights[j])}`;
    if (Number(input.value) !== score) input.value = score;
    set(input, { "aria-valuetext": spoken });
    for (const column of COLUMNS.slice(0, -1)) {
      setText(cells[column], short(row[column][j]));
      cells[column].classList.toggle("ms-nan", Number.isNaN(row[column][j]) || row[column][j] === Infinity);
    }
    const weight = row.weights[j], right = row.right[j];
    setText(number, short(weight));
    cells.weights.classList.toggle("ms-nan", Number.isNaN(weight));
    filling.style.width = `${100 * (weight || 0)}%`;
    goal.hidden = Number.isNaN(right);
    goal.style.left = `${100 * (right || 0)}%`;
  }
  return { element, draw };
}
