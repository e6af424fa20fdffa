import { button, menu, row, slider, tick } from "../../../figures/static/controls.js";
import { html, set } from "../../../figures/static/dom.js";
import { change, liveFigure } from "../../../figures/static/figure.js";
import { weightRows } from "./masked_rows.js";
import { stepTable } from "./masked_steps.js";
import { VERSIONS, computed } from "./masked_versions.js";
import { PAD, plain, short, story, verdictText } from "./masked_words.js";
import { PRECISIONS } from "./precision.js";

// Rows of scores and a masked softmax that may be wrong: failures to call up, controls, all rows, and one row in steps.

const MOVABLE = ["offset", "fill", "precision", "shift", "scale", "row", "lengths", "scores"]; // the cheap ones to compare first
const SCALES = [1, 2, 5, 10, 20, 50, 100, 1e3, 1e4];
const OFFSETS = [-1e9, -1e5, -1e4, -1e3, -200, -100, -50, -20, -10, 0, 10, 20, 50, 100, 200, 1e3, 1e4, 1e5];

/** Failures to call up: what each changes of the start. @param {object} start @returns {[string, object][]} */
export function failures(start) {
  const B = start.scores.length, S = start.scores[0].length;
  const b = Math.min(1, B - 1), shown = Math.max(1, Math.min(S - 1, start.lengths[b])); // a row of words and padding
  const lengths = (row, length) => start.lengths.map((n, i) => (i === row ? length : n));
  const part = { row: b, lengths: lengths(b, shown) };
  const blank = { row: B - 1, lengths: lengths(B - 1, 0) };
  const limit = limitOf(start.scores);
  const huge = start.scores.map((scores, i) => scores.map((x, j) => (i === b && j === S - 1 ? limit : x)));
  return [
    ["blank row, −∞", { ...blank, fill: "-inf" }],
    ["−1e9 in 16 bits", { ...blank, fill: "-1e9", precision: "float16" }],
    ["no maximum", { ...part, fill: "-inf", shift: false, offset: 100 }],
    ["−1e4, low scores", { ...part, fill: "-1e4", offset: -1e4 }],
    ["huge padding", { ...part, fill: "after, shared", scores: huge, scale: 100 }],
    ["scores near −200", { ...part, fill: "both, shared", offset: -200 }],
  ].map(([name, traits]) => [name, { ...start, ...traits }]);
}

/** How far the score sliders reach. */
const limitOf = (scores) => Math.max(6, Math.ceil(Math.max(...scores.flat().map(Math.abs))));

const nearestIndex = (stops, value) => stops.reduce((best, stop, n) =>
  (Math.abs(stop - value) < Math.abs(stops[best] - value) ? n : best), 0);

function render({ model, el: root }) {
  const start = model.get("start"), B = start.scores.length, S = start.scores[0].length;
  const words = model.get("words").map((sentence) => Array.from({ length: S }, (_, j) => sentence[j] ?? PAD));
  const replaced = (name, n, value) => model.get(name).map((old, i) => (i === n ? value : old));

  const shows = failures(start).map(([name, traits]) => ({ traits, element: button(name, () => change(model, structuredClone(traits))) }));
  const fill = menu("hide padding", Object.entries(VERSIONS).map(([name, { label }]) => [name, label]), (name) => change(model, { fill: name }));
  const precision = menu("precision", Object.keys(PRECISIONS).map((name) => [name, name]), (name) => change(model, { precision: name }));
  const shift = tick("subtract the largest first", (on) => change(model, { shift: on }));
  const scale = slider("scores times", { min: 0, max: SCALES.length - 1, step: 1 }, (n) => change(model, { scale: SCALES[n] }));
  const offset = slider("plus", { min: 0, max: OFFSETS.length - 1, step: 1 }, (n) => change(model, { offset: OFFSETS[n] }));
  offset.element.classList.add("ms-offset");
  const length = slider("valid length", { min: 0, max: S, step: 1 }, (n) => change(model, { lengths: replaced("lengths", model.get("row"), n) }));
  const reset = button("Reset", () => change(model, structuredClone(start)));
  const rows = weightRows(words, (b) => change(model, { row: b }));
  const table = stepTable(S, (j, score) => {
    const b = model.get("row");
    change(model, { scores: replaced("scores", b, model.get("scores")[b].map((x, i) => (i === j ? score : x))) });
  });

  /** The figure, computed from the model. */
  function figureOf() {
    const [scores, lengths] = [model.get("scores"), model.get("lengths")];
    const how = { fill: model.get("fill"), precision: model.get("precision"), shift: model.get("shift"), scale: model.get("scale"), offset: model.get("offset") };
    return { how, scores, lengths, b: model.get("row"), all: scores.map((row, n) => computed({ ...how, scores: row, length: lengths[n] })) };
  }

  function draw() {
    const { how, scores, lengths, b, all } = figureOf();
    const version = VERSIONS[how.fill];
    for (const { traits, element } of shows) {
      set(element, { "aria-pressed": String(MOVABLE.every((name) => JSON.stringify(model.get(name)) === JSON.stringify(traits[name]))) });
    }
    fill.show(how.fill);
    precision.show(how.precision);
    shift.show(how.shift);
    shift.element.hidden = Boolean(version.shifts); // attnlib always does
    scale.show(nearestIndex(SCALES, how.scale), `× ${plain(how.scale)}`);
    offset.show(nearestIndex(OFFSETS, how.offset), how.offset < 0 ? plain(how.offset) : `+ ${plain(how.offset)}`);
    length.show(lengths[b], `${lengths[b]} of ${S}`);
    rows.draw(all, b);
    table.draw(all[b], {
      words: words[b], scores: scores[b], limit: limitOf(scores), precision: how.precision,
      shifts: how.shift || Boolean(version.shifts), keeps: Boolean(version.keep),
    });
    const right = all.filter((row) => row.verdict.word === "ok").length;
    const meant = scores[b].map((x) => x * how.scale + how.offset);
    return `Row ${b + 1}: ${story(all[b], { ...how, meant })} ${right} of ${B} rows ${right === 1 ? "is" : "are"} right.`;
  }

  function numbers() {
    const { all, b, scores } = figureOf(), row = all[b];
    return {
      caption: `Row ${b + 1}: ${verdictText(row.verdict)}`,
      head: ["place", "visible", "score", "stored", "goes in", "minus the largest", "exp", "softmax", "weight", "right weight"],
      rows: words[b].map((word, j) => [`${j + 1}: ${word}`, row.mask[j] ? "yes" : "no",
        ...[scores[b], row.e, row.into, row.shifted, row.exp, row.softmax, row.weights, row.right].map((column) => short(column[j]))]),
    };
  }

  return liveFigure({
    model, root, kind: "ms", title: "a masked softmax, step by step", watch: MOVABLE, draw, numbers,
    parts: [
      html("div", { class: "attn-row ms-shows", role: "group", "aria-label": "failures to call up" },
        html("span", { class: "ms-try" }, "Break it:"), ...shows.map(({ element }) => element)),
      row(fill.element, precision.element, reset),
      html("div", { class: "ms-body" }, rows.element,
        html("div", { class: "ms-sliders" }, length.element, scale.element, offset.element, shift.element)),
      html("div", { class: "ms-frame" }, table.element),
    ],
  });
}

export default { render };
