import { fixed, html, set, setText } from "../../../figures/static/dom.js";
import { visible } from "../../../figures/static/figure.js";

// The words of an answer in a row, each with how it was written and its p_gen. One Tab stop, whose arrow keys choose
// a word; elements are kept and filled again, since a slider may change the answer many times a second.

/** How a word was written. @param {number} share of its probability that was said */
export function howWritten(share) {
  return share >= 0.5 ? "said" : "copied";
}

/** @param {object} of name: what the row is; pick: (i: number) => void, a word was chosen
 * @returns {{element: HTMLElement, draw: (steps: object[], chosen: number) => void}} */
export function strip({ name, pick }) {
  const element = html("div", {
    class: "cg-strip", tabindex: 0, role: "slider", "aria-label": name, "data-lm-suppress-shortcuts": "true",
  });
  const chips = [];
  let count = 0, at = 0;

  element.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const keys = { ArrowUp: at - 1, ArrowLeft: at - 1, ArrowDown: at + 1, ArrowRight: at + 1, Home: 0, End: count - 1 };
    const to = keys[event.key];
    if (to === undefined) return;
    event.preventDefault(); // the page would scroll
    if (to >= 0 && to < count && to !== at) pick(to);
  });

  function chip(i) {
    const word = html("bdi", { class: "cg-text" }), how = html("span", { class: "cg-how" });
    const filling = html("span", { class: "cg-filling" }), number = html("span", { class: "cg-number" });
    const box = html("span", { class: "cg-chip" }, word, how, html("span", { class: "cg-gate" }, filling), number);
    box.addEventListener("click", () => pick(i));
    return { box, word, how, filling, number };
  }

  function draw(steps, chosen) {
    [count, at] = [steps.length, chosen];
    while (chips.length < count) {
      chips.push(chip(chips.length));
      element.append(chips.at(-1).box);
    }
    chips.forEach(({ box, word, how, filling, number }, i) => {
      box.hidden = i >= count;
      if (box.hidden) return;
      const { p, share } = steps[i], manner = howWritten(share);
      setText(word, visible(steps[i].word));
      setText(how, manner);
      setText(number, fixed(p));
      filling.style.width = `${100 * p}%`;
      box.classList.toggle("cg-copied", manner === "copied");
      box.classList.toggle("cg-chosen", i === chosen);
    });
    const { word, p, share } = steps[chosen];
    set(element, {
      "aria-valuemin": 1, "aria-valuemax": count, "aria-valuenow": chosen + 1,
      "aria-valuetext": `${chosen + 1} of ${count}: “${word}”, ${howWritten(share)}, p_gen ${fixed(p)}`,
    });
  }
  return { element, draw };
}

/** A distribution: its likeliest words, each with a bar. A bar may have two parts, said and copied.
 * @param {number} n words shown @param {...(Node|string)} title
 * @returns {{element: HTMLElement, draw: Function}} draw(rows: {word, said, copied}[], counts: string) */
export function distribution(n, ...title) {
  const counts = html("span", { class: "cg-counts" });
  const lines = Array.from({ length: n }, () => {
    const word = html("bdi", { class: "cg-text" }), number = html("span", { class: "cg-number" });
    const said = html("span", { class: "cg-said" }), copied = html("span", { class: "cg-copy" });
    const line = html("li", {}, word, html("span", { class: "cg-bar" }, said, copied), number);
    return { line, word, number, said, copied };
  });
  const element = html("div", { class: "cg-distribution" },
    html("p", { class: "cg-title" }, ...title), counts, html("ol", {}, ...lines.map(({ line }) => line)));
  function draw(rows, share) {
    setText(counts, share);
    lines.forEach(({ line, word, number, said, copied }, k) => {
      line.classList.toggle("cg-empty", k >= rows.length); // keeps its room: nothing below may jump
      const row = rows[k] ?? { word: "", said: 0, copied: 0 };
      setText(word, row.word && visible(row.word));
      setText(number, k < rows.length ? fixed(row.said + row.copied) : "");
      said.style.width = `${100 * row.said}%`;
      copied.style.width = `${100 * row.copied}%`;
    });
  }
  return { element, draw };
}
