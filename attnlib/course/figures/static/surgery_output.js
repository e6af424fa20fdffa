import { html, set, setText } from "../../../figures/static/dom.js";
import { visible } from "../../../figures/static/figure.js";
import { likeliest } from "./network.js";
import { changedPlaces } from "./surgery_state.js";

// What came out: the target as the model writes it and as it is after surgery, and the likeliest tokens of a step.

/** Two lines of characters, one above the other; what has changed is boxed, what has been painted bears a pencil. */
export function outputLines() {
  const line = (label) => {
    const text = html("span", { class: "as-written", role: "img" });
    return { text, element: html("p", { class: "as-line" }, html("span", { class: "as-label" }, label), text) };
  };
  const own = line("the model writes"), now = line("after surgery");
  const element = html("div", { class: "as-output" }, own.element, now.element);

  /** @param {object} of before, after: string[] tokens; painted: number[] steps; shown: how many steps are to be seen;
   *   step: the chosen one */
  function draw({ before, after, painted: steps, shown, step }) {
    const changed = changedPlaces(before, after);
    const letters = (tokens, compare) => changed.map((differs, i) => {
      const written = i < shown && i in tokens ? visible(tokens[i]) : "·";
      const kinds = ["as-char", i === step && "as-here", compare && differs && "as-changed",
        compare && steps.includes(i) && "as-painted", written.length > 1 && "as-long"];
      return html("span", { class: kinds.filter(Boolean).join(" ") }, written);
    });
    own.text.replaceChildren(...letters(before, false));
    now.text.replaceChildren(...letters(after, true));
    const count = changed.filter(Boolean).length;
    set(own.text, { "aria-label": before.slice(0, shown).join("") || "nothing" });
    set(now.text, {
      "aria-label": `${after.slice(0, shown).join("") || "nothing"}, ${count === 0 ? "nothing" : count} changed`,
    });
  }
  return { element, draw };
}

/** The likeliest tokens of a step, with their probabilities before and after. */
export function topTokens(count = 3) {
  const title = html("p", { class: "as-title" });
  const rows = Array.from({ length: count }, () => {
    const name = html("th", { scope: "row" });
    const [before, after] = ["as-before", "as-after"].map((kind) => {
      const bar = html("span", { class: `as-chance ${kind}` }), number = html("span", { class: "as-percent" });
      return { bar, number, cell: html("td", {}, bar, number) };
    });
    return { name, before, after, element: html("tr", {}, name, before.cell, after.cell) };
  });
  const columns = ["token", "model", "surgery"];
  const head = html("tr", {}, ...columns.map((text) => html("th", { scope: "col" }, text)));
  const table = html("table", { class: "as-top", "aria-label": "the likeliest characters at the chosen step" }, html("thead", {}, head),
    html("tbody", {}, ...rows.map(({ element }) => element)));
  const element = html("div", { class: "as-side" }, title, table);

  /** @param {object} of step; names: (id: number) => string; before: probabilities (V), null where the model had ended;
   *   after: probabilities (V) */
  function draw({ step, names, before, after }) {
    setText(title, `Step ${step + 1}: probabilities`);
    const ids = likeliest(after, count);
    // What the model itself would have written is always among them.
    const own = before && likeliest(before, 1)[0];
    if (before && !ids.includes(own)) ids[ids.length - 1] = own;
    rows.forEach((row, n) => {
      row.element.hidden = n >= ids.length;
      if (n >= ids.length) return;
      setText(row.name, visible(names(ids[n])));
      for (const [part, chances] of [[row.before, before], [row.after, after]]) {
        part.bar.style.width = `${chances ? 100 * chances[ids[n]] : 0}%`;
        setText(part.number, chances ? percent(chances[ids[n]]) : "–");
      }
    });
  }
  return { element, draw };
}

/** A probability in words of at most six characters. */
export function percent(p) {
  if (p > 0 && p < 0.005) return "< 1 %";
  return p < 1 && p > 0.995 ? "> 99 %" : `${Math.round(100 * p)} %`;
}
