import { menu, row, slider, tick } from "./controls.js";
import { total } from "./cost_marks.js";
import { costPlot } from "./cost_plot.js";
import { costRows, percent } from "./cost_rows.js";
import { crossingInWords, grouped, threeDigits } from "./cost_words.js";
import { html, setText } from "./dom.js";
import { change, liveFigure } from "./figure.js";
import { AXES, cost, crossing, ladder, nearest } from "./polynomial.js";

// Costs over the length or the width: controls, curves, a row for each cost.

const AXIS_NAMES = { "S=T": "both lengths, S = T", S: "source words S", T: "target words T", d: "width d" };
const NAMES = { S: "source words S", T: "target words T", d: "width d" };

function render({ model, el: root }) {
  const quantities = model.get("costs");
  const quantity = menu("count", quantities.map(({ name }) => [name, name]),
    (name) => change(model, { quantity: name }));
  const axis = menu("along", Object.entries(AXIS_NAMES), (name) => change(model, { axis: name }));
  const log = tick("logarithmic axes", (on) => change(model, { log: on }));
  const steps = Object.fromEntries(Object.entries(model.get("largest")).map(([name, end]) => [name, ladder(end)]));
  const sliders = Object.fromEntries(Object.entries(NAMES).map(([name, text]) =>
    [name, slider(text, { min: 0, max: steps[name].length - 1, step: 1 },
      (n) => change(model, { [name]: steps[name][n] }))]));
  quantity.element.hidden = quantities.length < 2;
  const plot = costPlot((size) => change(model, { [AXES[model.get("axis")][0]]: size }));
  const rows = costRows();

  function draw() {
    const figure = costsOf(model);
    quantity.show(figure.quantity);
    axis.show(figure.axis);
    log.show(figure.log);
    for (const [name, control] of Object.entries(sliders)) {
      control.show(nearest(steps[name], model.get(name)), grouped(model.get(name)));
      const both = name === "S" && figure.axis === "S=T";
      setText(control.element.querySelector("label"), both ? "words S = T" : NAMES[name]);
    }
    sliders.T.element.hidden = figure.axis === "S=T"; // it is S
    plot.draw(figure);
    rows.draw(figure);
    return comparedInWords(figure);
  }
  let corners = { of: null, said: [] };
  /** The sentences of some sizes, from the smallest to the largest. */
  function sentences() {
    const of = model.get("quantity") + model.get("axis");
    if (corners.of !== of) corners = { of, said: cornersOf(model, steps).map(comparedInWords) };
    return corners.said;
  }
  return liveFigure({
    model, root, kind: "cc", title: "what it costs, over length and width", draw, sentences,
    numbers: () => costTable(costsOf(model)),
    watch: ["S", "T", "d", "axis", "quantity", "log"], end: plot.end,
    parts: [
      row(quantity.element, axis.element, log.element),
      html("div", { class: "cc-sliders" }, ...Object.values(sliders).map(({ element }) => element)),
      plot.element, rows.element,
    ],
  });
}

/** Everything the figure shows, computed from the model. */
function costsOf(model) {
  const [name, along] = [model.get("quantity"), model.get("axis")];
  const sizes = { S: model.get("S"), T: model.get(along === "S=T" ? "S" : "T"), d: model.get("d") };
  const letters = AXES[along];
  const shown = model.get("costs").find((one) => one.name === name).costs.map((one) => billOf(one, sizes, letters));
  const everything = (one) => one.parts.flatMap(({ terms }) => terms);
  for (const one of shown) one.crossing = crossing(everything(one), everything(shown[0]), along, sizes);
  const others = Object.entries(sizes).filter(([letter]) => !letters.includes(letter));
  return {
    quantity: name, axis: along, log: model.get("log"), sizes, others, costs: shown, here: sizes[letters[0]],
    last: model.get("largest")[letters[0]], letter: letters.join(" = "),
  };
}

/** What the sentence needs, at nine steps of each slider. */
function cornersOf(model, steps) {
  const axis = model.get("axis"), { costs } = model.get("costs").find(({ name }) => name === model.get("quantity"));
  const some = (name) => Array.from({ length: 9 }, (_, n) => steps[name][Math.round((n * (steps[name].length - 1)) / 8)]);
  const sizes = some("S").flatMap((S) => some("d").flatMap((d) =>
    (axis === "S=T" ? [S] : some("T")).map((T) => ({ S, T, d }))));
  return sizes.map((one) => ({ axis, sizes: one, costs: costs.map((bill) => billOf(bill, one, AXES[axis])) }));
}

function billOf({ name, parts }, sizes, letters) {
  function at(size) {
    const there = { ...sizes, ...Object.fromEntries(letters.map((letter) => [letter, size])) };
    return parts.map(({ terms }) => cost(terms, there));
  }
  return { name, parts, at, now: parts.map(({ terms }) => cost(terms, sizes)) };
}

/** Where we are, "S = T = 50, d = 512". */
function placeInWords({ sizes: { S, T, d }, axis }) {
  const lengths = axis === "S=T" ? `S = T = ${grouped(S)}` : `S = ${grouped(S)}, T = ${grouped(T)}`;
  return `${lengths}, d = ${grouped(d)}`;
}

/** The figure in one sentence: how many cost more than the first, and which the most. @returns {string} */
export function comparedInWords(figure) {
  const [base, ...others] = figure.costs;
  const ratio = (one) => total(one.now) / total(base.now);
  const more = others.filter((one) => ratio(one) > 1).sort((a, b) => ratio(b) - ratio(a));
  const where = `At ${placeInWords(figure)}`;
  if (!others.length) return `${where}: ${base.name}.`;
  if (!more.length) return `${where}, nothing costs more than ${base.name}.`;
  const dearest = `${more[0].name} (${threeDigits(ratio(more[0]))} ×)`;
  if (more.length === 1) return `${where}, ${others.length > 1 ? "only " : ""}${dearest} costs more than ${base.name}.`;
  const count = more.length === others.length ? `all ${others.length} others` : `${more.length} of ${others.length}`;
  return `${where}, ${count} cost more than ${base.name}, most of all ${dearest}.`;
}

/** @returns {{caption: string, head: string[], rows: string[][]}} */
function costTable(figure) {
  const base = total(figure.costs[0].now);
  const rows = figure.costs.flatMap((one, n) => {
    const sum = total(one.now);
    const meets = n ? crossingInWords(one.crossing, figure.costs[0].name, figure.letter, figure.last) : "";
    const whole = [one.name, grouped(sum), base > 0 ? `${threeDigits(sum / base)} ×` : "", meets];
    const parts = one.parts.map(({ name }, p) =>
      [`… ${name}`, grouped(one.now[p]), percent(sum > 0 ? one.now[p] / sum : 0), ""]);
    return [whole, ...parts];
  });
  const head = ["cost", "number", "times the first, or share", "meeting the first"];
  return { caption: `${figure.quantity} at ${placeInWords(figure)}`, head, rows };
}

export default { render };
