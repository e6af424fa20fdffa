import { fixed, html, set, setText } from "../../../figures/static/dom.js";
import { visible } from "../../../figures/static/figure.js";

// A row for each word: its weight, a bar that can be drawn, and its vote, of which as much counts as it has weight.
// With the keyboard the rows are one Tab stop: up and down go from word to word, left and right draw the bar.

/** @param {{paint: (place: number, weight: number) => void}} of @returns {{element: HTMLElement, draw: Function}} */
export function voteRows({ paint }) {
  const left = html("span"), right = html("span");
  const body = html("tbody");
  const total = voteAxis(), own = html("div", { class: "ow-own" }), same = html("div", { class: "ow-same" });
  const log = html("td", { class: "ow-number" });
  total.element.prepend(same);
  total.element.append(own);
  const element = html("table", { class: "ow-rows", "aria-label": "weight and vote of each word" },
    html("colgroup", {}, ...["word", "bar", "number", "bar", "number"].map((kind) => html("col", { class: `ow-${kind}-column` }))),
    html("thead", {}, html("tr", {},
      html("th", { scope: "col" }, "word"), html("th", { scope: "col", colspan: 2 }, "weight"),
      html("th", { scope: "col" }, html("span", { class: "ow-sides" }, left, right)),
      html("th", { scope: "col", class: "ow-number" }, "vote"))),
    body,
    html("tfoot", {}, html("tr", {},
      html("th", { scope: "row", colspan: 3 }, "weight × vote, sum: z"), html("td", {}, total.element), log)));
  let rows = [], shown = null; // the text whose words stand there

  body.addEventListener("keydown", (event) => {
    const to = rows.findIndex(({ input }) => input === event.target) + { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (Number.isNaN(to) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault(); // the page would scroll, or the bar move
    rows[(to + rows.length) % rows.length].input.focus();
  });
  body.addEventListener("focusin", (event) => {
    for (const { input } of rows) set(input, { tabindex: input === event.target ? 0 : -1 });
  });

  function build({ words, asked, votes, own: weights, widest, answers }) {
    setText(left, `← ${answers[0]}`);
    setText(right, `${answers[1]} →`);
    rows = words.map((word, j) => {
      const input = html("input", {
        type: "range", min: 0, max: 1, step: 0.01, tabindex: j === 0 ? 0 : -1, "data-lm-suppress-shortcuts": "true",
        "aria-label": `weight of “${word}”, word ${j + 1} of ${words.length}, vote ${fixed(votes[j])}`,
      });
      input.addEventListener("input", () => paint(j, Number(input.value)));
      const fill = html("div", { class: "ow-fill" }), was = html("div", { class: "ow-own" });
      was.style.left = `${100 * weights[j]}%`;
      const number = html("td", { class: "ow-number ow-share" }), axis = voteAxis(votes[j] / widest);
      const track = html("div", { class: "ow-track" }, fill, was, input);
      const line = html("tr", {}, named(word), html("td", {}, track), number, html("td", {}, axis.element),
        html("td", { class: "ow-number ow-vote" }, fixed(votes[j], 1)));
      return { line, input, fill, number, axis, weight: null };
    });
    const question = html("tr", {}, named(asked), html("td", { class: "ow-asks", colspan: 4 }, "asks, and gets no weight"));
    body.replaceChildren(...(asked ? [question] : []), ...rows.map(({ line }) => line));
  }

  /** @param {object} of text: its number; words, own, votes, weights: of its S words; asked: the word in front, or "";
   *   answers: the two; z, bounds, before: log-odds, between which they are the same answer, and the model's own;
   *   widest: the longest vote */
  function draw(of) {
    if (shown !== of.text) build(of);
    shown = of.text;
    rows.forEach((row, j) => {
      const weight = of.weights[j];
      if (row.weight === weight) return;
      row.weight = weight;
      row.fill.style.width = `${100 * weight}%`;
      row.axis.fill(weight * of.votes[j] / of.widest);
      row.input.value = weight;
      setText(row.number, fixed(weight));
      set(row.input, { "aria-valuetext": fixed(weight) });
    });
    total.fill(of.z / of.widest);
    own.style.left = `${along(of.before / of.widest)}%`;
    const [low, high] = of.bounds.map((bound) => along(bound / of.widest));
    same.style.left = `${low}%`;
    same.style.width = `${high - low}%`;
    setText(log, fixed(of.z));
  }
  return { element, draw };
}

/** A word as the head of its row, whole where there is room. */
function named(word) {
  return html("th", { scope: "row" }, html("bdi", { title: word }, visible(word)));
}

/** Where a share in −1..1 lies on an axis with 0 in the middle, in percent. */
function along(share) {
  return 50 + 50 * Math.min(1, Math.max(-1, share));
}

/** A bar from the middle to a vote, and in it what counts. @param {number} [vote] in −1..1 */
function voteAxis(vote = 0) {
  const pale = html("div", { class: "ow-pale" }), full = html("div", { class: "ow-full" });
  function reach(bar, share) {
    const to = along(share);
    bar.style.left = `${Math.min(50, to)}%`;
    bar.style.width = `${Math.abs(to - 50)}%`;
  }
  reach(pale, vote);
  return { element: html("div", { class: "ow-axis" }, pale, full), fill: (share) => reach(full, share) };
}
