import { field, row, slider, tick } from "../../../figures/static/controls.js";
import { fixed, html, set } from "../../../figures/static/dom.js";
import { change, liveFigure, visible } from "../../../figures/static/figure.js";
import { reader } from "./language_model.js";
import { leftOut, letterBars } from "./letters.js";
import { likeliest } from "./network.js";
import { nextTokens } from "./next_tokens.js";
import { readable } from "./surgery_state.js";
import { LITTLE, twoReadings, wordsIn } from "./two_readings.js";

// A trained network reads a text twice, with two different words in one place. How long does its state show it?

const DECADES = 6; // of the logarithmic scale
const SHOWN = 5; // next characters

function render({ model, el: root }) {
  const scene = scenes(model);
  const text = field("text", { maxlength: 400, dir: "auto" }, (typed) => change(model, { text: typed }));
  const becomes = field("becomes", { maxlength: 40, dir: "auto" }, (typed) => change(model, { becomes: typed }));
  const word = slider("word", { min: 1, max: 1, step: 1 }, (n) => change(model, { word: n - 1 }));
  const scale = tick("logarithmic bars", (on) => change(model, { logarithmic: on }));
  const letters = letterBars({ pick: (place) => {
    const n = scene().words.findIndex(([start, end]) => start <= place && place < end);
    if (n >= 0) change(model, { word: n });
  } });
  const next = nextTokens({ count: SHOWN, columns: 2, label: "what comes next, at the end of the text" });
  const body = html("div", { class: "lm-body" },
    row(word.element, becomes.element, scale.element), letters.element,
    html("p", { class: "attn-hint" }, "Bars: how far the two states are apart, of the most that they ever are; dotted: a tenth of it. ",
      "Choose a word with the slider, or click it."),
    next.element);

  function draw() {
    const now = scene();
    text.show(model.get("text"), now.words.length ? leftOut(now) : `${leftOut(now)} Type at least one word.`.trim());
    becomes.show(model.get("becomes"), leftOut(now.other));
    body.hidden = now.words.length === 0;
    if (body.hidden) return "There is nothing to read yet.";
    const { tokens, words, chosen, trace } = now, [start, end] = words[chosen], log = model.get("logarithmic");
    set(word.input, { max: words.length });
    word.show(chosen + 1, clipped(wordAt(now)));
    set(word.input, { "aria-valuetext": `${chosen + 1} of ${words.length}: “${wordAt(now)}”` });
    scale.show(log);
    const shareAt = (n) => trace.shares[n - end + 1];
    letters.element.style.setProperty("--lm-line", `${100 * heightOf(LITTLE, log)}%`);
    letters.draw({
      tokens, heights: tokens.map((_, n) => (n < end - 1 ? null : heightOf(shareAt(n), log))),
      kinds: tokens.map((_, n) => (n >= start && n < end ? "lm-word" : n >= end && shareAt(n) < LITTLE ? "lm-little" : "")),
      label: `The text, and over each character from the end of “${wordAt(now)}” on what is left of the difference`,
    });
    const either = trace.before.map((p, n) => Math.max(p, trace.after[n])), ids = likeliest(either, SHOWN);
    next.draw({
      titles: [withWord(wordAt(now)), withWord(now.other.tokens.join(""))],
      tokens: ids.map((id) => model.get("vocabulary")[id]),
      chances: ids.map((id) => [trace.before[id], trace.after[id]]),
    });
    return inWords(wordAt(now), { ...trace, words: wordsOn(now, trace.left) });
  }

  /** The longest that the slider may bring: nothing is read for it. */
  function sentences() {
    const { tokens, words } = scene(), n = tokens.length;
    const names = words.map(([start, end]) => tokens.slice(start, end).join(""));
    const longest = names.reduce((a, b) => (b.length > a.length ? b : a), "");
    return [n, null].map((left) => inWords(longest, { shares: [1], left, words: words.length, moved: 0.999 }));
  }

  function numbers() {
    const { tokens, words, chosen, trace } = scene();
    const [, end] = words[chosen] ?? [0, 0];
    return {
      caption: "What is left of the difference",
      head: ["place", "character", "characters after the word", "share of the largest difference"],
      rows: (trace?.shares ?? []).map((share, n) => [String(end + n), visible(tokens[end - 1 + n]), String(n), fixed(share, 6)]),
    };
  }

  return liveFigure({
    model, root, kind: "lm", title: "a trained network that reads a text twice, with one word changed", draw, sentences,
    numbers, watch: ["text", "word", "becomes", "logarithmic"], parts: [row(text.element), body],
  });
}

/** What is read now, computed again only where something has changed. */
function scenes(model) {
  const { network, known, read } = reader(model);
  let done = { now: null };
  return () => {
    const now = read(), words = wordsIn(now.tokens), becomes = model.get("becomes");
    const chosen = Math.max(0, Math.min(model.get("word"), words.length - 1));
    if (done.now !== now || done.chosen !== chosen || done.becomes !== becomes) {
      const other = readable(becomes, known, model.get("longest_word"));
      const trace = words.length ? twoReadings(network, now.ids, now.states, words[chosen], other.ids) : null;
      done = { ...now, now, words, chosen, becomes, other, trace };
    }
    return done;
  };
}

const wordAt = ({ tokens, words, chosen }) => tokens.slice(...words[chosen]).join("");

/** How many words begin among so many characters after the chosen one. */
function wordsOn({ words, chosen }, left) {
  const [, end] = words[chosen];
  return words.filter(([start]) => start >= end && start < end + left).length;
}

/** The height of a bar, 0..1. */
function heightOf(share, log) {
  return log ? Math.max(0, 1 + Math.log10(share) / DECADES) : share; // of no share at all: 0
}

/** A word as a slider or the head of a column has room for it. */
function clipped(word) {
  const letters = [...word];
  return letters.length > 9 ? `${letters.slice(0, 8).join("")}…` : word;
}

const withWord = (word) => (word ? `with “${clipped(word)}”` : "without it");
const many = (n, thing) => `${n} ${thing}${n === 1 ? "" : "s"}`;

/** The figure in one sentence. */
function inWords(word, { shares, left, words, moved }) {
  if (!shares.some((share) => share > 0)) return `“${word}” becomes itself: type another word.`;
  const guess = `the guess at the end has moved by ${moved < 0.0005 ? "less than 0.1" : fixed(100 * moved, 1)} %.`;
  if (left === null) return `At the end of the text ${fixed(100 * shares.at(-1), 0)} % of what “${word}” made different is left, and ${guess}`;
  return `Less than 10 % of what “${word}” made different is left ${many(left, "character")}${
    words ? ` (${many(words, "word")})` : ""} later, and ${guess}`;
}

export default { render };
