import { SCORES, attend } from "./attention.js";
import { button, menu, slider } from "../../../figures/static/controls.js";
import { fixed, formula, freshId, html, pair, setText } from "../../../figures/static/dom.js";
import { change, liveFigure } from "../../../figures/static/figure.js";
import { plane } from "./plane.js";
import { table } from "./table.js";

// One query, S keys on a plane: controls, plane and table around one model.

const MOVABLE = ["query", "key", "score", "temperature", "valid_length"];

function render({ model, el: root }) {
  const words = model.get("words");
  const hintId = freshId("hint");
  const score = menu("score", model.get("scores").map((name) => [name, name + SCORES[name].alias]),
    (name) => change(model, { score: name }));
  // The slider moves the exponent: as much room for 0.1 … 1 as for 1 … 10.
  const temperature = slider("temperature", { min: -1, max: 1, step: 0.05 },
    (exponent) => change(model, { temperature: Number((10 ** exponent).toPrecision(2)) }));
  const length = slider("valid length", { min: 0, max: words.length, step: 1 },
    (chosen) => change(model, { valid_length: chosen }));
  const reset = button("Reset", () => change(model, structuredClone(model.get("start"))));

  const rule = html("p", { class: "se-formula" });
  const note = html("p", { class: "se-note" });
  const parameters = html("pre", { tabindex: 0 });
  const details = html("details", { class: "attn-details" },
    html("summary", { "data-lm-suppress-shortcuts": "true" }, "parameters"), parameters);
  const place = html("p", { class: "se-place" });
  const drawing = plane({
    words, extent: extentOf(model), ownValues: Boolean(model.get("value")), describedBy: hintId,
    move: (handle, point) => change(model, handle < 0
      ? { query: point }
      : { key: model.get("key").map((key, j) => (j === handle ? point : key)) }),
  });
  const rows = table(words);

  function draw() {
    const name = model.get("score");
    const figure = figureOf(model);
    score.show(name);
    temperature.show(Math.log10(figure.temperature), fixed(figure.temperature, figure.temperature < 10 ? 2 : 1));
    length.show(figure.validLength, `${figure.validLength} of ${words.length}`);
    rule.replaceChildren(...formula(SCORES[name].formula));
    note.replaceChildren(...formula(SCORES[name].note));
    const listed = Object.entries(figure.parameters);
    details.hidden = listed.length === 0;
    setText(parameters, listed.map(([key, value]) => `${key} = ${JSON.stringify(value)}`).join("\n"));
    place.replaceChildren("query ", html("var", { class: "attn-query" }, "q"), ` = ${pair(figure.query)}`);
    drawing.draw(figure);
    rows.draw(figure);
    return inWords(words, figure);
  }
  return liveFigure({
    model, root, kind: "se", title: "one query and its keys on a plane", watch: [...MOVABLE, "value"], draw,
    parts: [
      html("div", { class: "se-head" }, score.element, rule, note),
      html("div", { class: "se-body" },
        html("div", { class: "se-left" }, drawing.element, legend(Boolean(model.get("value"))),
          html("p", { class: "attn-hint", id: hintId },
            "Drag q or any word. With the keyboard: Tab to it, then the arrow keys (Shift: larger steps)."),
          details),
        html("div", { class: "se-right" },
          html("div", { class: "se-sliders" }, temperature.element, length.element),
          html("div", { class: "se-line" }, place, reset), rows.element)),
    ],
  });
}

/** Everything the figure shows, computed from the model. */
function figureOf(model) {
  const name = model.get("score");
  const parameters = model.get("parameters")[name];
  const query = model.get("query");
  const keys = model.get("key");
  const asked = {
    name, query, keys, parameters, values: model.get("value") ?? keys,
    temperature: model.get("temperature"), validLength: model.get("valid_length"),
  };
  const { compare, seen, placeless } = SCORES[name];
  return {
    ...asked,
    ...attend(asked),
    score: placeless ? null : (point) => compare(query, point, parameters),
    seen: seen ? seen(query, parameters) : null,
  };
}

/** The plane is wide enough for what it starts with, and never narrower than 3. */
function extentOf(model) {
  const start = model.get("start");
  const points = [start.query, ...start.key, ...(model.get("value") ?? []), model.get("query"), ...model.get("key")];
  return Math.max(3, Math.ceil(Math.max(...points.flat().map(Math.abs))));
}

function legend(ownValues) {
  const swatch = () => html("span", { class: "se-swatch", "aria-hidden": "true" });
  const entry = (role, text) => html("li", { class: `se-is-${role}` }, swatch(), text);
  return html("ul", { class: "se-legend" },
    entry("query", "query q"), entry("key", "key of a word"),
    ...(ownValues ? [entry("value", "value v")] : []),
    entry("weight", "weight α (width)"), entry("context", "context c"),
    entry("field", "equal score (strong: 0)"));
}

/** A word, with its position if it stands there twice. */
function named(words, j) {
  const twice = words.indexOf(words[j]) !== words.lastIndexOf(words[j]);
  return `“${words[j]}”${twice ? ` (word ${j + 1})` : ""}`;
}

/** The figure in one sentence. */
function inWords(words, { weights, context, validLength }) {
  if (validLength === 0) return "Nothing visible: every weight is 0 and so is the context.";
  const visible = weights.slice(0, validLength);
  const top = Math.max(...visible);
  const even = visible.every((weight) => top - weight < 1e-9);
  const who = even && validLength > 1 ? `each of ${validLength} visible words` : named(words, visible.indexOf(top));
  return `q attends ${fixed(top)} to ${who}; the context is ${pair(context)}.`;
}

export default { render };
