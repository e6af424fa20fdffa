import { html, setText } from "../../../figures/static/dom.js";
import { visible } from "../../../figures/static/figure.js";
import { percent } from "./surgery_output.js";

// The likeliest next tokens, each with a bar and its probability; in several columns, one for each way to read.

/** @param {object} of count: rows; columns: how many ways; label: what it is, for who cannot see it
 * @returns {{element: HTMLElement, draw: Function}} */
export function nextTokens({ count, columns, label }) {
  const heads = Array.from({ length: columns }, () => html("th", { scope: "col" }));
  const rows = Array.from({ length: count }, () => {
    const name = html("th", { scope: "row" });
    const parts = heads.map(() => {
      const bar = html("span", { class: "lm-chance" }), number = html("span", { class: "lm-percent" });
      return { bar, number, cell: html("td", {}, html("span", { class: "lm-room" }, bar), number) };
    });
    return { name, parts, element: html("tr", {}, name, ...parts.map(({ cell }) => cell)) };
  });
  const element = html("table", { class: "lm-next", "aria-label": label },
    html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "next"), ...heads)),
    html("tbody", {}, ...rows.map((row) => row.element)));

  /** @param {object} figure titles: string[] of the columns; tokens: string[] of the rows, as many as there are at most;
   *   chances: number[][] of each row, one a column */
  function draw({ titles, tokens, chances }) {
    titles.forEach((title, n) => setText(heads[n], title));
    rows.forEach(({ element: line, name, parts }, n) => {
      line.hidden = n >= tokens.length;
      if (line.hidden) return;
      setText(name, visible(tokens[n]));
      parts.forEach(({ bar, number }, k) => {
        bar.style.width = `${Math.round(1000 * chances[n][k]) / 10}%`;
        setText(number, percent(chances[n][k]));
      });
    });
  }
  return { element, draw };
}
