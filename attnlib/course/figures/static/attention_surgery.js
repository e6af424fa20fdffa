import { beginWriting, write } from "./bahdanau.js";
import { button, field, menu, player } from "../../../figures/static/controls.js";
import { fixed, html, setText } from "../../../figures/static/dom.js";
import { change, liveFigure, visible } from "../../../figures/static/figure.js";
import { heat } from "../../../figures/static/heat.js";
import { logSoftmax, tensors } from "./network.js";
import { weightBars } from "./surgery_bars.js";
import { linkMaker } from "./surgery_link.js";
import { outputLines, percent, topTokens } from "./surgery_output.js";
import { allOn, changedPlaces, fromHash, painted, readable, toHash } from "./surgery_state.js";

// A trained network runs in the page, and a reader overrules where it looks.

const CELL = 22, FEW = 8; // px of a bar and its column; so many have room for more
const FRESH = { edits: {}, step: 0, place: 0, shown: null };

function render({ model, el: root }) {
  const target = model.get("target_vocabulary");
  const reader = translator(model);
  const state = () => reader(model.get("text"), model.get("edits"));
  const at = () => Math.min(model.get("step"), state().after.length - 1);
  const spot = () => Math.min(model.get("place"), state().tokens.length - 1);

  const text = field("read", { dir: "auto", class: "as-text" }, (typed) => change(model, { ...FRESH, text: typed }));
  const given = model.get("examples");
  const examples = menu("or", [["", "an example"], ...given.map((example) => [example, example])],
    (example) => change(model, { ...FRESH, ...(example && { text: example }) }));
  examples.element.hidden = given.length === 0;
  const output = outputLines();
  const play = player({
    label: "step", at: () => seen(state()) - 1, count: () => state().after.length,
    go: (step) => change(model, { step, shown: step + 1 }),
  });
  const grid = heat({
    name: "attention weights", rowTitle: "writes", columnTitle: "looks at", least: CELL,
    pick: (step) => change(model, { step, ...(step < seen(state()) ? {} : { shown: step + 1 }) }),
  });
  const put = (weights, place) => change(model, { place, edits: { ...model.get("edits"), [at()]: weights } });
  const bars = weightBars({
    go: (place) => change(model, { place }),
    paint: (place, weight) => put(painted(state().after[at()].weights, place, weight), place),
  });
  const top = topTokens();
  const all = button("", () => put(allOn(state().tokens.length, spot()), spot()));
  const resetStep = button("Reset this step", () => {
    const { [at()]: _, ...edits } = model.get("edits");
    change(model, { edits });
  });
  const resetAll = button("Reset all", () => change(model, { edits: {} }));
  const link = linkMaker(() => toHash(model.get("name"), {
    text: model.get("text"), step: at(), place: spot(), edits: state().edits,
  }));
  const hint = html("p", { class: "attn-hint" },
    "Choose a row, then drag its bars: the others share the rest as before. Keys: ← → along the bars, ↑ ↓ to paint. ",
    "Dashes: the model's own weights.");
  const map = html("div", { class: "as-scroll attn-scroll" }, grid.element, bars.element);
  const side = html("div", { class: "as-right" }, play.element,
    html("div", { class: "as-actions" }, all, resetStep, resetAll, link.control), top.element, hint);
  const body = html("div", { class: "as-body" }, html("div", { class: "as-left" }, output.element, map), side);

  function draw() {
    const now = state();
    const { tokens, before, after, edits } = now;
    text.show(model.get("text"), complaint(now, model));
    examples.show(given.includes(model.get("text")) ? model.get("text") : "");
    body.hidden = tokens.length === 0;
    if (tokens.length === 0) return "There is nothing to read yet.";
    const step = at(), place = spot(), shown = seen(now);
    const name = (id) => target[id];
    const names = (steps) => steps.map(({ token }) => name(token));
    const rows = names(after), width = Math.max(...rows.map((word) => visible(word).length));
    const steps = Object.keys(edits).map(Number).filter((i) => i < after.length);
    // All of what was written: then all of what the model itself would have written, which may be more.
    const visibleSteps = shown < after.length ? shown : Infinity;
    output.draw({ before: names(before), after: rows, painted: steps, shown: visibleSteps, step });
    play.show();
    const { x, cell } = grid.draw({
      // What is not written yet has a row as wide as the others, so that nothing moves when it comes.
      rows: rows.map((word, i) => (i < shown ? word : "·".padStart(width, "\u2007"))), columns: tokens, row: step,
      weights: after.map(({ weights }, i) => (i < shown ? Array.from(weights) : new Array(tokens.length).fill(0))),
      largest: tokens.length > FEW ? CELL : Infinity,
    });
    bars.draw({
      tokens, weights: after[step].weights, own: after[step].own, place, x, cell,
      label: `weights of step ${step + 1}, which writes “${rows[step]}”, to be painted`,
    });
    top.draw({ step, names: name, before: before[step] ? chances(before[step]) : null, after: chances(after[step]) });
    setText(all, `All on “${visible(tokens[place])}” (${place + 1})`);
    resetStep.hidden = !(step in edits);
    resetAll.hidden = Object.keys(edits).length === 0;
    return inWords({ before: names(before), after: rows, step, tokens, steps, said: after[step] });
  }
  const seen = ({ after }) => Math.min(model.get("shown") ?? after.length, after.length);
  const size = (given) => readable(given, reader.known, model.get("longest")).tokens.length;
  function follow() {
    try {
      const found = fromHash(location.hash, model.get("name"), size, model.get("max_length"));
      if (!found) return;
      change(model, { ...FRESH, ...found });
      link.say("This is the state of the link that brought you here.");
      requestAnimationFrame(() => root.scrollIntoView({ block: "nearest" }));
    } catch (error) {
      link.say(`The link could not be read, because ${error.message}. It was left aside.`);
    }
  }
  addEventListener("hashchange", follow);
  follow();
  return liveFigure({
    model, root, kind: "as", title: "a trained translator, whose attention can be painted over", draw,
    watch: ["text", "edits", "step", "place", "shown"],
    parts: [html("div", { class: "as-input" }, text.element, examples.element), body, link.answer],
    numbers: () => numbersOf(state(), target),
    end: () => {
      play.stop();
      removeEventListener("hashchange", follow);
    },
  });
}

/** Text and edits -> everything that the network makes of them. Asked twice for the same, it answers from memory.
 * @returns {Function} with `known`: the characters it can read, and their ids */
function translator(model) {
  const weights = tensors(model.get("network"));
  const [source, target] = [model.get("source_vocabulary"), model.get("target_vocabulary")];
  const known = new Map(source.map((token, id) => [token, id]).filter(([token]) => Array.from(token).length === 1));
  const how = { begin: target.indexOf("<bos>"), end: target.indexOf("<eos>"), maxLength: model.get("max_length") };
  let read = { text: null }, done = { given: null };
  function answer(text, given) {
    if (read.text !== text) {
      const found = readable(text, known, model.get("longest"));
      const memory = found.ids.length ? beginWriting(weights, found.ids) : null;
      read = { text, ...found, memory, before: memory ? write(weights, memory, how) : [] };
      done = { given: null, edits: {}, after: read.before };
    }
    if (done.given !== given) {
      // Weights of another text have other places: they mean nothing here.
      const edits = Object.fromEntries(Object.entries(given).filter(([, row]) => row.length === read.tokens.length));
      const kept = done.after.findIndex((_, step) => edits[step] !== done.edits[step]);
      const after = kept < 0 ? done.after
        : write(weights, read.memory, { ...how, edits, written: done.after.slice(0, kept) });
      done = { given, edits, after };
    }
    const { edits, after } = done;
    return { ...read, edits, after };
  }
  return Object.assign(answer, { known });
}

const chances = ({ logits }) => logSoftmax(logits).map(Math.exp);

/** What is wrong with the text, in words; "" if nothing is. */
function complaint({ tokens, strange, cut }, model) {
  const typed = model.get("source_vocabulary").filter((token) => Array.from(token).length === 1);
  const known = typed.filter((token) => token.trim()).sort().join(" ");
  const said = [];
  if (strange.length) {
    const list = strange.slice(0, 5).map((character) => `“${visible(character)}”`).join(", ");
    said.push(`${list} did not occur in training and ${strange.length > 1 ? "are" : "is"} left out. Known are ${
      typed.includes(" ") ? "the blank and " : ""}${known}.`);
  }
  if (cut) said.push(`Only the first ${tokens.length} characters are read: ${cut} too many.`);
  if (!tokens.length && !strange.length) said.push("Type something, or choose an example.");
  return said.join(" ");
}

/** The figure in one sentence. */
function inWords({ before, after, step, tokens, steps, said }) {
  const largest = said.weights.indexOf(Math.max(...said.weights));
  const here = `Step ${step + 1} writes ${quoted(after[step])} (${percent(chances(said)[said.token])}), with ${
    fixed(said.weights[largest])} of its weight on ${quoted(visible(tokens[largest]))} (${largest + 1})`;
  if (steps.length === 0) return `${here}; nothing is painted.`;
  const count = changedPlaces(before, after).filter(Boolean).length;
  const effect = count === 0 ? "what is written stays the same" : `${count} of ${after.length} characters changed`;
  return `${here}; painted: step${steps.length > 1 ? "s" : ""} ${steps.map((i) => i + 1).join(", ")}; ${effect}.`;
}

/** A token in a sentence, kept apart from the direction in which the sentence runs. */
const quoted = (token) => `“\u2068${token}\u2069”`;

function numbersOf({ tokens, before, after, edits }, target) {
  return {
    caption: "Each step: what the model writes, what is written after surgery, and the weight on each character.",
    head: ["step", "the model", "after surgery", "painted",
      ...tokens.map((token, j) => `${visible(token)} (${j + 1})`)],
    rows: after.map(({ token, weights }, i) => [
      String(i + 1), before[i] ? target[before[i].token] : "–", target[token], i in edits ? "yes" : "no",
      ...Array.from(weights, (w) => fixed(w, 3)),
    ]),
  };
}

export default { render };
