import { fixed, html, pair, setText } from "../../../figures/static/dom.js";

// Scores → weights → context: one row per word, so that the three are read along a line.

/** @param {string[]} words
 * @returns {{element: HTMLElement, draw: Function}} */
export function table(words) {
  const rows = words.map((word) => {
    const row = {
      at: html("span", { class: "se-at" }),
      score: bar("se-score se-signed"),
      weight: bar("se-weight"),
      part: html("td", { class: "se-part" }),
    };
    const name = html("th", { scope: "row" }, html("span", { class: "se-word" }, word), " ", row.at);
    row.element = html("tr", {}, name, row.score.element, row.weight.element, row.part);
    return row;
  });
  const total = html("td", { class: "se-total" });
  const context = html("td", { class: "se-sum" });
  const element = html("table", { class: "se-table" },
    html("caption", {}, "One step of attention"),
    html("thead", {}, html("tr", {},
      html("th", { scope: "col" }, "word, key ", html("var", { class: "attn-key" }, "k"), html("sub", {}, "j")),
      html("th", { scope: "col" }, "score ", html("var", {}, "e"), html("sub", {}, "j")),
      html("th", { scope: "col" }, "weight ", html("var", { class: "attn-weight" }, "α"), html("sub", {}, "j")),
      html("th", { scope: "col" }, html("var", { class: "attn-weight" }, "α"), html("sub", {}, "j"), " ",
        html("var", { class: "attn-value" }, "v"), html("sub", {}, "j")))),
    html("tbody", {}, ...rows.map((row) => row.element)),
    html("tfoot", {}, html("tr", {},
      html("th", { scope: "row", colspan: 2 }, "sum: context ", html("var", { class: "attn-context" }, "c")),
      total, context)));

  function draw({ keys, values, scores, weights, context: c, validLength }) {
    const largest = Math.max(1, ...scores.map(Math.abs));
    rows.forEach((row, j) => {
      row.element.classList.toggle("se-hidden", j >= validLength);
      setText(row.at, pair(keys[j]));
      row.score.draw(scores[j], scores[j] / largest);
      row.weight.draw(weights[j], weights[j]);
      setText(row.part, pair(values[j].map((x) => weights[j] * x)));
    });
    setText(total, fixed(weights.reduce((sum, weight) => sum + weight, 0)));
    setText(context, pair(c));
  }
  return { element, draw };
}

/** A cell with a number and a bar: a share of the cell, or, if signed, of half the cell to either side. */
function bar(kind) {
  const number = html("span", { class: "se-number" });
  const filling = html("span", { class: "se-filling" });
  const element = html("td", { class: kind }, number,
    html("span", { class: "se-bar", "aria-hidden": "true" }, filling));
  const signed = kind.includes("se-signed");
  function draw(value, share) {
    setText(number, fixed(value));
    const width = Math.abs(share) * (signed ? 50 : 100);
    filling.style.width = `${width}%`;
    filling.style.marginLeft = signed ? `${share < 0 ? 50 - width : 50}%` : "0";
  }
  return { element, draw };
}
