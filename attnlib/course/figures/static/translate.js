import { button, field, menu, player } from "../../../figures/static/controls.js";
import { fixed, html, set, setText } from "../../../figures/static/dom.js";
import { change, liveFigure } from "../../../figures/static/figure.js";
import { heat } from "../../../figures/static/heat.js";
import { weightBars } from "./surgery_bars.js";
import { percent, topTokens } from "./surgery_output.js";
import { allOn, changedPlaces, painted } from "./surgery_state.js";
import { beamList, pieceLine, translationLines } from "./translate_lines.js";
import { MOST_CHARACTERS, MOST_PIECES, writer } from "./translation.js";
import { loader, translatorOf } from "./translator_file.js";

// A translator runs in the page: what is typed is translated at once, and a reader overrules where it looks.

const CELL = 24; // px of a piece in the map: a finger meets its bar
const FRESH = { edits: {}, step: 0, place: 0, shown: null };
const BEAMS = [1, 2, 3, 4, 5];
const EARLY = "600px"; // above and below what is seen: the translator comes when a reader does

/** Until the translator has come, a sentence stands in the figure's place. */
async function render({ model, el: root, experimental }) {
  let end = () => {}, gone = false;
  const words = html("p", { class: "attn-frame tl-waiting", role: "status" },
    `The translator is being loaded, ${fixed(model.get("size") / 1e6, 1)} MB.`);
  const coming = (carried) => translatorOf({
    file: model.get("file"), digest: model.get("digest"), carried, load: loader(experimental),
  });
  function begin(translator) {
    if (gone) return;
    words.remove();
    end = figure({ model, root, translator });
  }
  function failed(error) {
    set(words, { role: "alert" });
    words.classList.add("attn-stopped");
    words.textContent = error.message;
  }
  root.classList.add("attn", "as", "tl");
  root.append(words);
  const carried = model.get("carried");
  if (carried.data) await coming(carried).then(begin, failed);
  else near(root).then(() => coming(null)).then(begin).catch(failed);
  return () => {
    gone = true;
    end();
  };
}

/** When a place is about to be seen. */
function near(root) {
  return new Promise((seen) => {
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      watch.disconnect();
      seen();
    }, { rootMargin: `${EARLY} 0px` });
    watch.observe(root);
  });
}

function figure({ model, root, translator }) {
  const { pieces: vocabulary } = translator.subwords, write = writer(translator);
  const state = () => write(model.get("text"), model.get("edits"), model.get("beams"));
  const best = () => state().after[0].steps;
  const at = () => Math.min(model.get("step"), best().length - 1);
  const spot = () => Math.min(model.get("place"), state().ids.length - 1);
  const count = () => (state().problem ? 0 : best().length);
  const seen = () => Math.min(model.get("shown") ?? count(), count());

  const text = field("English", { maxlength: MOST_CHARACTERS, dir: "auto", lang: "en" },
    (typed) => change(model, { ...FRESH, text: typed }), true);
  const given = model.get("examples");
  const examples = menu("or", [["", "an example"], ...given.map((example) => [example, example])],
    (example) => change(model, { ...FRESH, ...(example && { text: example }) }));
  examples.element.hidden = given.length === 0;
  const beams = menu("search", BEAMS.map((n) => [String(n), n === 1 ? "greedy" : `${n} beams`]),
    (n) => change(model, { beams: Number(n), shown: null }));
  const pieces = pieceLine(), lines = translationLines(translator.language), list = beamList();
  const play = player({
    label: "step", every: 500, at: () => seen() - 1, count,
    go: (step) => change(model, { step, shown: step + 1 }),
  });
  const grid = heat({
    name: "attention weights", rowTitle: "writes", columnTitle: "looks at", least: CELL,
    pick: (step) => change(model, { step, ...(step < seen() ? {} : { shown: step + 1 }) }),
  });
  const put = (weights, place) => change(model, { place, shown: null, edits: { ...model.get("edits"), [at()]: weights } });
  const bars = weightBars({
    go: (place) => change(model, { place }),
    paint: (place, weight) => put(painted(best()[at()].weights, place, weight), place),
  });
  const top = topTokens();
  set(top.element.querySelector("table"), { "aria-label": "the likeliest pieces at the chosen step" });
  const all = button("", () => put(allOn(state().ids.length, spot()), spot()));
  const resetStep = button("Reset step", () => {
    const { [at()]: _, ...edits } = model.get("edits");
    change(model, { edits });
  });
  const resetAll = button("Reset all", () => change(model, { edits: {} }));
  const hint = html("p", { class: "attn-hint" },
    "Choose a row, then drag its bars: the others share the rest. Keys: ← → along the bars, ↑ ↓ to paint.");
  const map = html("div", { class: "as-scroll attn-scroll tl-map" }, grid.element, bars.element);
  const side = html("div", { class: "as-right" }, play.element,
    html("div", { class: "as-actions" }, all, resetStep, resetAll), top.element, list.element);
  const body = html("div", { class: "as-body" }, html("div", { class: "as-left" }, map, hint), side);
  const read = html("div", { class: "tl-read" }, pieces.element, lines.element);

  function draw() {
    const now = state();
    text.show(model.get("text"), now.problem);
    examples.show(given.includes(model.get("text")) ? model.get("text") : "");
    beams.show(String(model.get("beams")));
    body.hidden = now.problem !== "";
    lines.element.hidden = body.hidden;
    pieces.element.hidden = now.ids.length === 0 || now.ids.length > MOST_PIECES;
    pieces.draw({ pieces: now.pieces, unknown: now.unknown, place: body.hidden ? -1 : spot() });
    if (body.hidden) return "Nothing is translated.";
    const step = at(), place = spot(), shown = seen(), after = best(), before = now.before[0].steps;
    const rows = after.map(({ token }) => vocabulary[token]), own = before.map(({ token }) => vocabulary[token]);
    const steps = Object.keys(now.edits).map(Number).filter((i) => i < after.length);
    // All of what was written: then all of what the model itself would have written, which may be more.
    lines.draw({
      before: own, after: rows, said: [now.before[0].text, now.after[0].text], painted: steps, step,
      shown: shown < after.length ? shown : Infinity,
    });
    play.show();
    const width = Math.max(...rows.map((piece) => piece.length));
    const { x, cell } = grid.draw({
      // What is not written yet has a row as wide as the others, so that nothing moves when it comes.
      rows: rows.map((piece, i) => (i < shown ? piece : "·".padStart(width, "\u2007"))), columns: now.pieces, row: step,
      weights: after.map(({ weights }, i) => (i < shown ? Array.from(weights) : new Array(now.ids.length).fill(0))),
      largest: CELL,
    });
    bars.draw({
      tokens: now.pieces, weights: after[step].weights, own: after[step].own, place, x, cell,
      label: `weights of step ${step + 1}, which writes “${rows[step]}”, to be painted`,
    });
    [...bars.element.children].forEach((bar, j) => { // the bars of chapter 7 speak of characters
      set(bar, { "aria-label": `weight on “${now.pieces[j]}”, piece ${j + 1} of ${now.pieces.length}` });
    });
    intoView(step, cell);
    const chances = (said) => said.log.map(Math.exp);
    top.draw({
      step, names: (id) => vocabulary[id], before: before[step] ? chances(before[step]) : null,
      after: chances(after[step]),
    });
    setText(all, `All on “${now.pieces[place]}” (${place + 1})`);
    set(resetStep, { "aria-disabled": step in now.edits ? null : "true" });
    set(resetAll, { "aria-disabled": steps.length ? null : "true" });
    list.draw(now.after);
    return inWords({ now, vocabulary, step, steps });
  }

  /** The chosen row, where not all have room: within the map, and not the page. */
  function intoView(step, cell) {
    if (intoView.step === step) return;
    intoView.step = step;
    requestAnimationFrame(() => { // laid out by then, also at first
      const head = grid.element.offsetHeight - count() * cell, room = map.clientHeight - bars.element.offsetHeight;
      const y = head + step * cell;
      map.scrollTop = step === 0 ? 0 : Math.min(y, Math.max(map.scrollTop, y + cell + 4 - room));
    });
  }

  /** Those that the choice of a step may bring. */
  function sentences() {
    const now = state();
    const steps = Object.keys(now.edits).map(Number);
    return now.problem ? [] : best().map((_, step) => inWords({ now, vocabulary, step, steps }));
  }
  return liveFigure({
    model, root, kind: "tl", title: `a translator from English to ${translator.language}, whose attention can be painted over`, draw,
    sentences, watch: ["text", "edits", "step", "place", "shown", "beams"],
    parts: [html("div", { class: "as-input" }, text.element, examples.element, beams.element), read, body],
    numbers: () => numbersOf(state(), vocabulary, state().problem ? -1 : at()),
    end: () => play.stop(),
  });
}

/** The figure in one sentence. */
function inWords({ now, vocabulary, step, steps }) {
  const after = now.after[0].steps, before = now.before[0].steps, said = after[step];
  const largest = said.weights.indexOf(Math.max(...said.weights));
  const here = `Step ${step + 1}, ${quotedPiece(vocabulary[said.token])} (${percent(Math.exp(said.log[said.token]))}), looks most at ${
    quotedPiece(now.pieces[largest])} (${largest + 1}), ${fixed(said.weights[largest])}`;
  if (steps.length === 0) return `${here}.`;
  const tokens = (all) => all.map(({ token }) => token);
  const changes = changedPlaces(tokens(before), tokens(after)).filter(Boolean).length;
  const effect = changes === 0 ? "what is written stays the same" : `${changes} piece${changes > 1 ? "s" : ""} changed`;
  return `${here}; painted: step${steps.length > 1 ? "s" : ""} ${steps.map((i) => i + 1).join(", ")}; ${effect}.`;
}

/** A piece in a sentence, kept apart from the direction in which the sentence runs. */
const quotedPiece = (piece) => `“\u2068${piece}\u2069”`;

function numbersOf(now, vocabulary, chosen) {
  const steps = now.after[0]?.steps ?? [];
  return {
    caption: "Each step: what the model writes, what is written after surgery, and the weight on each piece.",
    head: ["step", "the model", "after surgery", "painted", ...now.pieces.map((piece, j) => `${piece} (${j + 1})`)],
    rows: steps.map(({ token, weights }, i) => [
      `${i + 1}${i === chosen ? ", chosen" : ""}`, vocabulary[now.before[0].steps[i]?.token] ?? "–", vocabulary[token],
      i in now.edits ? "yes" : "no", ...Array.from(weights, (w) => fixed(w, 3)),
    ]),
  };
}

export default { render };
