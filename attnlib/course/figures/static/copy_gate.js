import { button, field, menu, row, slider, tick } from "../../../figures/static/controls.js";
import { END, copier } from "./copier.js";
import { scenes } from "./copy_scenes.js";
import { distribution, howWritten, strip } from "./copy_strip.js";
import { fixed, html, set, setText } from "../../../figures/static/dom.js";
import { change, liveFigure } from "../../../figures/static/figure.js";
import { heat } from "../../../figures/static/heat.js";
import { likeliest, tensors } from "./network.js";

// A line to type in, what a trained copier writes, and the gate of one word, or of all, in the reader's hand.

const SHOWN = 4; // words of a distribution
const CELL = 14; // px, so that the grid has room beside the distributions

function render({ model, el: root }) {
  const network = copier(tensors(model.get("weights")), model.get("vocabulary"), model.get("unknown"));
  const longest = model.get("longest");
  const scene = scenes(network, model);

  const text = field("request", { maxlength: 400, dir: "auto" },
    (typed) => change(model, { text: typed, ...released() }), true);
  const examples = model.get("examples");
  const choice = menu("or", [["", "your own"], ...examples.map(([label], n) => [String(n), label])],
    (n) => { if (n) change(model, { text: examples[n][1], step: 0, p_gen: null, everywhere: false }); else text.input.focus(); });
  choice.element.hidden = examples.length === 0;
  const gate = slider("p_gen", { min: 0, max: 1, step: 0.01 },
    (p) => change(model, { p_gen: p, step: scene().chosen }));
  const everywhere = tick("at every word", (on) => {
    const { steps, chosen } = scene();
    change(model, { everywhere: on, p_gen: model.get("p_gen") ?? Number(fixed(steps[chosen].p)), step: chosen });
  });
  const own = button("the model’s own", () => {
    change(model, { p_gen: null, everywhere: false });
    gate.input.focus(); // the button goes
  });

  const reads = html("p", { class: "cg-reads" });
  const choose = (step) => change(model, { step, ...(model.get("everywhere") ? {} : { p_gen: null }) });
  const words = strip({ name: "words of the answer", pick: choose });
  const alone = html("p", { class: "attn-hint cg-alone" });
  const title = html("p", { class: "cg-step" });
  const say = distribution(SHOWN, "say: ", ...formulaOf("P", "vocab"));
  const copy = distribution(SHOWN, "copy: ", ...formulaOf("P", "copy"));
  const both = distribution(SHOWN, "mixture: ", ...formulaOf("P"));
  const grid = heat({ name: "copy weights", rowTitle: "writes", columnTitle: "looks at", pick: choose });
  const body = html("div", { class: "cg-body" },
    // above all that it moves, so that it stays under the finger
    row(gate.element, everywhere.element, own),
    html("div", { class: "cg-line" }, html("p", { class: "cg-label" }, "writes"), words.element),
    alone,
    html("div", { class: "cg-panel" }, grid.element,
      html("div", { class: "cg-word" }, title, html("div", { class: "cg-three" }, say.element, copy.element, both.element))));

  /** What typing leaves of a held gate: one held at every word stays. */
  function released() {
    return model.get("everywhere") ? {} : { p_gen: null };
  }

  let read = null, highest = 0; // the text whose words are shown, and how high the grid of its answers has been, in px
  function draw() {
    const now = scene();
    const wrong = now.words.length === 0 ? "Type a request of at least one word."
      : now.words.length > longest ? `That is ${now.words.length} words; it reads at most ${longest}.` : "";
    text.show(model.get("text"), wrong);
    const at = examples.findIndex(([, example]) => example === model.get("text"));
    choice.show(at < 0 ? "" : String(at));
    if (read !== now) {
      reads.replaceChildren(...sourceOf(now));
      read = now;
      highest = 0;
    }
    body.hidden = wrong !== "";
    if (wrong) return wrong;

    const { steps, chosen } = now, step = steps[chosen], p = model.get("p_gen"), all = model.get("everywhere");
    words.draw(steps, chosen);
    setText(alone, p === null ? "Under each word its p_gen. Choose a word, then move the slider."
      : `left alone: ${sentence(now.alone)}`);
    setText(title, `Word ${chosen + 1}, “${step.word}”: ${howWritten(step.share)}; p_gen ${heldAt(now) ? "yours" : "its own"}.`);
    setText(gate.element.firstChild, all ? "p_gen of every word" : `p_gen of word ${chosen + 1}`);
    gate.show(step.p, fixed(step.p));
    everywhere.show(all);
    own.classList.toggle("cg-away", p === null);
    drawPanel(now, step);
    const { height, cell } = grid.draw({
      rows: steps.map(({ word }) => clipped(word)), columns: now.words.map(clipped), row: chosen,
      weights: steps.map(({ weights }) => [...weights]), largest: CELL,
    });
    const longer = Math.max(...now.ends.steps.map((other) => other.length)) - steps.length;
    highest = Math.max(highest, height + Math.max(0, longer) * cell);
    set(grid.element, { style: `min-height: ${highest}px` }); // a shorter answer moves nothing below
    return inWords(now, p, all);
  }

  /** What is said with the gate closed, and with it open. */
  function sentences() {
    const now = scene(), all = model.get("everywhere");
    return (now.ends?.steps ?? []).map((steps, p) =>
      inWords({ ...now, steps, chosen: Math.min(model.get("step"), steps.length - 1) }, p, all));
  }
  function drawPanel({ source }, { said, copied, log, p }) {
    const rows = (values, of) => likeliest(values, SHOWN).filter((n) => values[n] > 0).map((n) =>
      ({ word: network.wordOf(source, n), ...of(n) }));
    const spoken = said.map(Math.exp);
    say.draw(rows(spoken, (n) => ({ said: spoken[n], copied: 0 })), `× p_gen = ${fixed(p)}`);
    copy.draw(rows(copied, (n) => ({ said: 0, copied: copied[n] })), `× (1−p_gen) = ${fixed(1 - p)}`);
    both.draw(rows(log.map(Math.exp), (n) => ({ said: p * (spoken[n] ?? 0), copied: (1 - p) * copied[n] })),
      "the largest wins");
  }

  function numbers() {
    const { steps } = scene();
    return {
      caption: "Each word of the answer",
      head: ["word", "how", "p_gen", "the model’s own p_gen", "probability", "share of it that was said",
        "looks most at"],
      rows: (steps ?? []).map(({ word, share, p, own: unheld, probability, weights }) => {
        const [best] = likeliest(weights, 1);
        return [word, howWritten(share), fixed(p, 3), fixed(unheld, 3), fixed(probability, 3), fixed(share, 3),
          `${scene().words[best]} ${fixed(weights[best])}`];
      }),
    };
  }

  return liveFigure({
    model, root, kind: "cg", title: "a trained copier and its gate", draw, sentences, numbers,
    watch: ["text", "p_gen", "step", "everywhere"],
    parts: [
      row(text.element, choice.element),
      html("div", { class: "cg-line" }, html("p", { class: "cg-label" }, "reads"), reads), body,
    ],
  });

  function heldAt({ chosen }) {
    return model.get("p_gen") !== null && (model.get("everywhere") || chosen === model.get("step"));
  }
}

/** The words of the source; those that the vocabulary does not know with what is read in their place. */
function sourceOf({ words, source }) {
  return words.flatMap((word) => {
    const isNew = source?.unseen.includes(word);
    return [html("span", { class: isNew ? "cg-source cg-new" : "cg-source" }, html("bdi", {}, word),
      ...(isNew ? [html("span", { class: "cg-how" }, "<unk>")] : [])), " "];
  });
}

/** A word as the grid has room for it; it stands in full above. */
function clipped(word) {
  const letters = [...word];
  return letters.length > 16 ? `${letters.slice(0, 15).join("")}…` : word;
}

/** A letter with a word below it. */
function formulaOf(letter, below) {
  return [html("i", {}, letter), ...(below ? [html("sub", {}, below)] : [])];
}

/** Words without the end; three dots where they were cut. */
function sentence(steps) {
  const words = steps.filter(({ token }) => token !== END).map(({ word }) => word);
  return `“${words.join(" ")}${steps.at(-1).token === END ? "" : " …"}”`;
}

/** The figure in one sentence. */
function inWords({ source, steps, alone, chosen }, p, all) {
  const cut = steps.at(-1).token === END ? "" : " and does not end";
  const lost = [...new Set(alone.filter(({ word }) => source.unseen.includes(word)).map(({ word }) => word))]
    .filter((name) => !steps.some(({ word }) => word === name));
  if (p === null) {
    const unseen = source.unseen.length;
    const known = unseen === 0 ? "It knows every word of the request"
      : `${unseen} ${unseen === 1 ? "word is" : "words are"} not in its vocabulary`;
    const copied = steps.filter(({ share }) => share < 0.5).length;
    return `${known}; it copies ${copied} of ${steps.length} words${cut}.`;
  }
  const where = all ? "at every word" : `at word ${chosen + 1}`;
  const effect = lost.length ? ` and loses ${lost.map((name) => `“${name}”`).join(", ")}`
    : sentence(steps) === sentence(alone) ? ", the same as alone" : "";
  return `With p_gen ${fixed(p)} ${where} it writes ${sentence(steps)}${cut}${effect}.`;
}

export default { render };
