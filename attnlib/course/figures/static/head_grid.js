import { button, menu, row, slider } from "../../../figures/static/controls.js";
import { fixed, html } from "../../../figures/static/dom.js";
import { change, liveFigure } from "../../../figures/static/figure.js";
import { answerTable, taskBars } from "./head_answers.js";
import { headMaps } from "./head_maps.js";
import { countRight, headsModel, logitsOfRow, partsOfHeads, project, saidOfRow, weightsOfHead } from "./heads.js";

// The heads of a trained layer, each with a switch; the model answers all rows again, here, at every switch.

function render({ model, el: root }) {
  const [models, rows, targets, words, tasks] = ["models", "tokens", "targets", "words", "tasks"].map((name) => model.get(name));
  const labels = Object.keys(models);
  const run = runner(models, rows, targets, tasks.length);

  const choice = menu("model", labels.map((label) => [label, label]), (label) => change(model, { model: label, off: [] }));
  choice.element.hidden = labels.length === 1;
  const allOn = button("All on", () => {
    maps.element.querySelector("button").focus(); // the button is about to go, and would take the focus along
    change(model, { off: [] });
  });
  const example = slider("example", { min: 0, max: rows.length - 1, step: 1 }, (n) => change(model, { example: n }));
  example.element.hidden = rows.length === 1;
  const mistake = button("Next mistake", () => {
    const { mistaken } = run(model.get("model")).count(model.get("off"));
    change(model, { example: mistaken.find((n) => n > model.get("example")) ?? mistaken[0] });
  });
  const bars = taskBars(tasks);
  const maps = headMaps(Math.max(...Object.values(models).map(({ heads }) => heads)), (h) => {
    const off = model.get("off");
    change(model, { off: off.includes(h) ? off.filter((other) => other !== h) : [...off, h].sort((a, b) => a - b) });
  });
  const occurring = new Set([...rows.flat(), ...targets.flat(2).filter((id) => id >= 0)]);
  const answers = answerTable(tasks, rows[0].length, words, [...occurring].map((id) => words[id]), maps.outline);

  function draw() {
    const label = model.get("model"), off = model.get("off"), n = model.get("example");
    const runs = run(label);
    const now = runs.count(off), before = runs.count([]);
    choice.show(label);
    allOn.classList.toggle("hg-away", off.length === 0);
    mistake.classList.toggle("hg-away", !now.mistaken.some((other) => other !== n));
    example.show(n, `${n + 1} of ${rows.length}`);
    maps.draw(runs.weightsOf(n), models[label].heads, off, `${label} ${n}`);
    bars.draw(now.accuracy, before.accuracy);
    answers.draw(rows[n], targets[n], now.said[n]);
    return inWords(tasks, off, now.accuracy, before.accuracy);
  }
  function numbers() {
    const off = model.get("off"), runs = run(model.get("model"));
    const sets = [[], ...Array.from({ length: models[model.get("model")].heads }, (_, h) => [h]), ...(off.length > 1 ? [off] : [])];
    return {
      caption: `share of right answers in ${rows.length} examples, ${model.get("model")}`,
      head: ["heads off", ...tasks],
      rows: sets.map((set) => [set.join(", ") || "none", ...runs.count(set).accuracy.map((share) => fixed(share, 3))]),
    };
  }
  return liveFigure({
    model, root, kind: "hg", title: "the heads of a trained layer, with a switch each", draw, numbers,
    watch: ["model", "off", "example"],
    parts: [
      row(choice.element, html("span", { class: "attn-hint" }, "Press a map to switch its head off."), allOn),
      html("div", { class: "attn-halves hg-halves" }, maps.element,
        html("div", {}, html("p", { class: "hg-title" }, `Right answers in all ${rows.length} examples`), bars.element)),
      html("div", { class: "hg-one" },
        html("div", { class: "hg-choose" }, html("p", { class: "hg-title" }, "What the model says"), mistake), example.element,
        html("p", { class: "attn-hint" }, "The maps show its weights: down, the position that asks; across, where it looks."),
        answers.element),
    ],
  });
}

/** Runs the models, and remembers what a switch does not change.
 * @returns {(label: string) => {count: Function, weightsOf: Function}} */
function runner(models, rows, targets, nTasks) {
  const known = new Map();
  function start(label) {
    const network = headsModel(models[label]);
    const parts = rows.map((ids) => partsOfHeads(network, ids));
    const counts = new Map();
    return {
      /** What the model says to all rows, and how much of that is right. */
      count(off) {
        const key = off.join();
        if (!counts.has(key)) {
          const said = rows.map((_, n) => saidOfRow(logitsOfRow(network, parts[n], off), nTasks));
          counts.set(key, { said, ...countRight(said, targets) });
        }
        return counts.get(key);
      },
      weightsOf(n) {
        let made = null; // asked for only where a map has changed
        return (h, on) => weightsOfHead(network, made ??= project(network, rows[n]), h, on);
      },
    };
  }
  return (label) => {
    if (!known.has(label)) known.set(label, start(label));
    return known.get(label);
  };
}

/** The figure in one sentence. */
function inWords(tasks, off, now, before) {
  const shares = tasks.map((task, r) => {
    const [from, to] = [fixed(before[r]), fixed(now[r])];
    if (off.length === 0) return `${task} ${to}`;
    return from === to ? `${task} stays at ${to}` : `${task} goes from ${from} to ${to}`;
  });
  const who = off.length === 0 ? "All heads on" : `Without ${off.length === 1 ? "head" : "heads"} ${off.join(", ")}`;
  return `${who}: ${shares.join(", ")}.`;
}

export default { render };
