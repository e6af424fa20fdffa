import { button, menu, row } from "../../../figures/static/controls.js";
import { fixed, html, set } from "../../../figures/static/dom.js";
import { change, liveFigure } from "../../../figures/static/figure.js";
import { painted } from "./surgery_state.js";
import { answerPanel } from "./vote_answer.js";
import { voteRows } from "./vote_rows.js";
import {
  alike, answerOf, boundsOf, divergence, evenly, farthestWeights, judged, permuted, saidAt, shuffled,
} from "./votes.js";

// A trained model answers by a weighted vote of the words. Other weights, the same votes: what does it answer then?

const TRIES = 20; // a permutation that changes nothing is no news

function render({ model, el: root }) {
  const [words, own, votes, answers, asked, within] =
    ["words", "own", "votes", "answers", "asked", "within"].map((name) => model.get(name));
  const of = texts(own, votes, within);
  const at = () => model.get("text");
  const weights = () => model.get("edits")[at()] ?? own[at()];
  const put = (next, more = {}) => change(model, { edits: { ...model.get("edits"), [at()]: next }, ...more });

  const choice = menu("text", words.map((line, n) => [n, [asked[n], ...line].filter(Boolean).join(" ")]),
    (n) => change(model, { text: Number(n) }));
  choice.element.hidden = words.length === 1;
  const buttons = {
    own: button("The model's own", () => {
      const { [at()]: _, ...edits } = model.get("edits");
      change(model, { edits });
    }),
    permuted: button("Permuted", () => {
      let turn = model.get("shuffles"), next;
      const last = turn + TRIES;
      do next = shuffled(own[at()], turn += 1); while (alike(next, weights()) && turn < last);
      put(next, { shuffles: turn });
    }),
    adversarial: button("Adversarial", () => put(of(at()).farthest)),
    even: button("Even", () => put(evenly(own[at()].length))),
  };
  const rows = voteRows({ paint: (place, weight) => put(painted(weights(), place, weight)) });
  const panel = answerPanel();

  /** Which button the present weights are those of; "yours" if none. */
  function looks() {
    const now = weights(), { farthest } = of(at());
    if (alike(now, own[at()])) return "own";
    if (alike(now, farthest)) return "adversarial";
    if (alike(now, evenly(now.length))) return "even";
    return permuted(now, own[at()]) ? "permuted" : "yours";
  }
  function draw() {
    const text = at(), now = weights(), { before, bounds, widest } = of(text);
    const { z, p } = answerOf(now, votes[text]), distance = divergence(own[text], now), look = looks();
    choice.show(text);
    for (const [name, control] of Object.entries(buttons)) set(control, { "aria-pressed": name === look ? "true" : "false" });
    rows.draw({
      text, words: words[text], asked: asked[text], own: own[text], votes: votes[text], answers: answers[text],
      weights: now, z, before: before.z, bounds, widest,
    });
    panel.draw({ answers: answers[text], z, p, before: before.p, within, distance });
    return inWords({ look, distance, z, p, before: before.p, within, answers: answers[text] });
  }
  // The longest that a bar may bring: an answer that has turned, or p that has moved.
  function sentences() {
    const { before } = of(at());
    return [-1, 1].flatMap((z) => [0, 1].map((p) => inWords({
      look: "adversarial", distance: 0.5, z, p, before: before.p, within, answers: answers[at()] })));
  }
  function numbers() {
    const text = at(), now = weights();
    const { z } = answerOf(now, votes[text]);
    return {
      caption: `weight and vote of each word; z is the log-odds of ${answers[text][1]}`,
      head: ["word", "weight", "the model's own", "vote", "weight × vote"],
      rows: [
        ...words[text].map((word, j) => [
          word, fixed(now[j], 3), fixed(own[text][j], 3), fixed(votes[text][j], 3), fixed(now[j] * votes[text][j], 3)]),
        ["all together", "1.000", "1.000", "–", `z = ${fixed(z, 3)}`],
      ],
    };
  }
  return liveFigure({
    model, root, kind: "ow", title: "other weights for the same words, and the model's answer", draw, numbers, sentences,
    watch: ["text", "edits"],
    parts: [
      choice.element,
      row(html("div", { class: "ow-looks", role: "group", "aria-label": "weights" }, ...Object.values(buttons))),
      html("div", { class: "ow-body" }, panel.element, rows.element),
      html("p", { class: "attn-hint ow-hint" },
        "Drag a weight: the others share the rest as before (keys: ↑ ↓ and ← →). Press Permuted again for another order. ",
        "Pale: a word's vote. Full: what counts of it. Lines: the model's own. Dashes: where the answer stays."),
    ],
  });
}

/** What does not change with the weights, for each text: worked out once. */
function texts(own, votes, within) {
  const known = new Map();
  return (n) => {
    if (!known.has(n)) {
      const before = answerOf(own[n], votes[n]), bounds = boundsOf(before.p, within);
      const widest = Math.max(...votes[n].map(Math.abs), 1e-9);
      known.set(n, { before, bounds, widest, farthest: farthestWeights(own[n], votes[n], bounds) });
    }
    return known.get(n);
  };
}

const WHOSE = {
  own: "The model's own weights", permuted: "Permuted weights", adversarial: "Adversarial weights",
  even: "Even weights", yours: "Your weights",
};
const BECAME = { same: "The answer stays", near: "The same answer, another p", other: "Another answer" };

/** The figure in words. */
function inWords({ look, distance, z, p, before, within, answers }) {
  const said = `the model says ${saidAt(z, answers)}, p of ${answers[1]} ${fixed(p)}`;
  if (look === "own") return `${WHOSE.own}: ${said}.`;
  const became = BECAME[judged(p, before, within)];
  return `${WHOSE[look]}, ${fixed(distance)} nats from its own: ${said}, was ${fixed(before)}. ${became}.`;
}

export default { render };
