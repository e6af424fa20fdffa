import { button, field, row, slider } from "../../../figures/static/controls.js";
import { fixed, html, set } from "../../../figures/static/dom.js";
import { change, liveFigure, visible } from "../../../figures/static/figure.js";
import { reader } from "./language_model.js";
import { leftOut, letterBars } from "./letters.js";
import { likeliest, logSoftmax } from "./network.js";
import { nextTokens } from "./next_tokens.js";
import { percent } from "./surgery_output.js";

// A trained language model reads what the reader types. At one place: which earlier states it looks at, what comes next.

const SHOWN = 5; // next tokens

function render({ model, el: root }) {
  const vocabulary = model.get("vocabulary"), last = model.get("longest") - 1; // whatever the text, its end
  const scene = scenes(model);
  const text = field("text", { maxlength: 400, dir: "auto" }, (typed) => change(model, { text: typed, position: last }));
  const choices = model.get("examples").map(([label, example]) => ({
    example, control: button(label, () => change(model, { text: example, position: last })),
  }));
  const go = (position) => change(model, { position });
  const place = slider("has read up to", { min: 1, max: 1, step: 1 }, (n) => go(n - 1));
  const letters = letterBars({ pick: go });
  const next = nextTokens({ count: SHOWN, columns: 1, label: "what comes next" });
  const body = html("div", { class: "lm-body lb-body" },
    row(place.element), letters.element,
    html("p", { class: "attn-hint" }, "Bars: ", html("span", { class: "attn-weight" }, "weights"),
      " on the states after the earlier characters; framed: the ", html("span", { class: "attn-query" }, "query"),
      ", the state that looks. Choose another with the slider, or click a character."),
    next.element);

  function draw() {
    const now = scene(), { tokens, alpha, at, chances } = now;
    text.show(model.get("text"), tokens.length ? leftOut(now) : `${leftOut(now)} Type something.`.trim());
    choices.forEach(({ example, control }) => set(control, { "aria-pressed": String(example === model.get("text")) }));
    body.hidden = tokens.length === 0;
    if (body.hidden) return "There is nothing to read yet.";
    set(place.input, { max: tokens.length });
    place.show(at + 1, `${at + 1} of ${tokens.length}`);
    set(place.input, { "aria-valuetext": `${at + 1} of ${tokens.length}: “${visible(tokens[at])}”` });
    letters.draw({
      tokens, heights: tokens.map((_, j) => (j < at ? alpha[j] : null)),
      kinds: tokens.map((_, j) => (j === at ? "lb-here" : j > at ? "lb-unread" : "")),
      label: `The text, and over each character before place ${at + 1} the weight of its state`,
    });
    const ids = likeliest(chances, SHOWN);
    next.draw({
      titles: [`after “${visible(tokens[at])}”, place ${at + 1}`], tokens: ids.map((id) => vocabulary[id]),
      chances: ids.map((id) => [chances[id]]),
    });
    return inWords({ tokens, at, alpha, token: vocabulary[ids[0]], chance: chances[ids[0]] });
  }

  /** The longest that the slider may bring. */
  function sentences() {
    const { tokens } = scene(), at = tokens.length - 1;
    if (at < 0) return [];
    const longest = vocabulary.reduce((a, b) => (b.length > a.length ? b : a));
    return [inWords({ tokens, at, alpha: tokens.slice(1).map((_, j) => (j === at - 1 ? 0.99 : 0)), token: longest, chance: 0.999 })];
  }

  function numbers() {
    const { tokens, at, alpha } = scene();
    return {
      caption: tokens.length ? `Weights of the state after place ${at + 1}, “${visible(tokens[at])}”` : "Weights",
      head: ["place", "character", "weight"],
      rows: Array.from(alpha, (weight, j) => [String(j + 1), visible(tokens[j]), fixed(weight, 4)]),
    };
  }

  return liveFigure({
    model, root, kind: "lm", title: "a trained language model that looks back at what it has read", draw, sentences,
    numbers, watch: ["text", "position"],
    parts: [row(text.element), ...(choices.length ? [row(...choices.map(({ control }) => control))] : []), body],
  });
}

/** What is read now, computed again only where something has changed. */
function scenes(model) {
  const { network, read } = reader(model);
  let done = { now: null };
  return () => {
    const now = read(), at = Math.min(model.get("position"), now.tokens.length - 1);
    if (done.now !== now || done.at !== at) {
      const { weights, context } = at < 0 ? { weights: [], context: null } : network.look(now.states, at);
      const chances = at < 0 ? null : logSoftmax(network.say(now.states[at], context)).map(Math.exp);
      done = { ...now, now, at, alpha: weights, chances };
    }
    return done;
  };
}

/** The figure in one sentence. */
function inWords({ tokens, at, alpha, token, chance }) {
  const here = `After “${visible(tokens[at])}” (place ${at + 1}) `;
  const next = `the likeliest next is “${visible(token)}”, ${percent(chance)}.`;
  if (at === 0) return `${here}there is nothing to look back at; ${next}`;
  const most = alpha.indexOf(Math.max(...alpha));
  return `${here}it looks most at “${visible(tokens[most])}” (place ${most + 1}), ${fixed(alpha[most])}; ${next}`;
}

export default { render };
