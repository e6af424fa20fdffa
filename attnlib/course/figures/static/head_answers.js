import { fixed, html, set, setText } from "../../../figures/static/dom.js";
import { visible } from "../../../figures/static/figure.js";
import { lengthOf } from "../../../figures/static/heat.js";

// What is left of the answers: a bar for each task, and one row of the data with what the model says about it.

/** @param {string[]} tasks
 * @returns {{element: HTMLElement, draw: (now: number[], before: number[]) => void}} accuracies in 0..1 */
export function taskBars(tasks) {
  const bars = tasks.map((task) => {
    const filling = html("span", { class: "hg-filling" }), line = html("span", { class: "hg-line" });
    const now = html("span", { class: "hg-now" }), before = html("span", { class: "hg-before" });
    const element = html("li", {}, html("bdi", { class: "hg-task" }, task),
      html("span", { class: "hg-bar", "aria-hidden": "true" }, filling, line), now, before);
    return { filling, line, now, before, element };
  });
  const element = html("ul", { class: "hg-bars", "aria-label": "accuracy" }, ...bars.map((bar) => bar.element));
  function draw(now, before) {
    bars.forEach((bar, r) => {
      set(bar.filling, { style: `width: ${100 * now[r]}%` });
      set(bar.line, { style: `left: ${100 * before[r]}%` });
      setText(bar.now, fixed(now[r]));
      setText(bar.before, now[r] === before[r] ? "" : `was ${fixed(before[r])}`);
    });
  }
  return { element, draw };
}

/** The tokens of a row, the right answers and the model's. The table is built once; its words change.
 * @param {string[]} tasks @param {number} T @param {string[]} words @param {string[]} usual the words that occur, for
 * whose longest there is room @param {(t: number) => void} point at a position; -1: none
 * @returns {{element: HTMLElement, draw: (tokens: number[], targets: number[][], said: number[][]) => void}} */
export function answerTable(tasks, T, words, usual, point) {
  const line = (name, ...cells) => html("tr", { class: name }, ...cells);
  const cellsOf = () => Array.from({ length: T }, (_, t) => {
    const word = html("bdi");
    return { word, element: html("td", { "data-t": t }, word) };
  });
  const tokens = cellsOf(), right = tasks.map(cellsOf), said = tasks.map(cellsOf);
  const body = tasks.flatMap((task, r) => [
    line("hg-right", html("th", { scope: "row" }, html("bdi", {}, task), ": right"), ...right[r].map((cell) => cell.element)),
    line("hg-said", html("th", { scope: "row" }, html("bdi", {}, task), ": model"), ...said[r].map((cell) => cell.element)),
  ]);
  // The longest word with its ✗, bold; lengthOf() counts in letters of 13 px.
  const room = `--hg-word: ${fixed(1.2 * lengthOf(usual) / 13 + 1.4)}em`;
  const table = html("table", { class: "hg-answers attn-numbers", style: room, "aria-label": "the example, place by place" },
    html("tbody", {}, line("hg-tokens", html("th", { scope: "row" }, "token"), ...tokens.map((cell) => cell.element)), ...body));
  table.addEventListener("pointerover", (event) => point(Number(event.target.closest("td")?.dataset.t ?? -1)));
  table.addEventListener("pointerleave", () => point(-1));

  function draw(ids, targets, guesses) {
    tokens.forEach((cell, t) => setText(cell.word, visible(words[ids[t]])));
    tasks.forEach((_, r) => targets.forEach((target, t) => {
      const asked = target[r] >= 0, wrong = asked && guesses[t][r] !== target[r];
      setText(right[r][t].word, asked ? visible(words[target[r]]) : "·");
      setText(said[r][t].word, asked ? `${wrong ? "✗\u00a0" : ""}${visible(words[guesses[t][r]])}` : "·");
      said[r][t].element.classList.toggle("hg-wrong", wrong);
    }));
  }
  return {
    element: html("div", { class: "attn-scroll", tabindex: 0, role: "group", "aria-label": "the example and its answers" }, table),
    draw,
  };
}
