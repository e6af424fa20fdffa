import { SCORES, attend } from "./attention.js";
import { fixed, formula, freshId, html, pair, set } from "./dom.js";
import { plane } from "./plane.js";
import { table } from "./table.js";

// The figure: controls, plane and table around one model. All state is in the model; draw() shows it.

const MOVABLE = ["query", "key", "score", "temperature", "valid_length"];
const QUIET_AFTER = 400; // ms without a change, after which the sentence is read out

function render({ model, el: root }) {
  const words = model.get("words");
  const hintId = freshId("hint");
  root.classList.add("attn", "se");

  function change(state) {
    for (const [name, value] of Object.entries(state)) model.set(name, value);
    model.save_changes();
  }
  const menu = control("select", "score", {}, { change: (input) => change({ score: input.value }) });
  menu.input.append(...model.get("scores").map((name) => html("option", { value: name }, name + SCORES[name].alias)));
  // The slider moves the exponent: as much room for 0.1 … 1 as for 1 … 10.
  const temperature = control("input", "temperature", { type: "range", min: -1, max: 1, step: 0.05 }, {
    input: (input) => change({ temperature: Number((10 ** input.value).toPrecision(2)) }),
  });
  const length = control("input", "valid length", { type: "range", min: 0, max: words.length, step: 1 }, {
    input: (input) => change({ valid_length: Number(input.value) }),
  });
  const reset = html("button", { type: "button", class: "se-reset", "data-lm-suppress-shortcuts": "true" }, "Reset");
  reset.addEventListener("click", () => change(structuredClone(model.get("start"))));

  const rule = html("p", { class: "se-formula" });
  const note = html("p", { class: "se-note" });
  const parameters = html("pre", { tabindex: 0 });
  const details = html("details", { class: "se-parameters" },
    html("summary", { "data-lm-suppress-shortcuts": "true" }, "parameters"), parameters);
  const place = html("p", { class: "se-place" });
  // Shown at once, and read out once the hand is still: a screen reader must not be flooded in a drag.
  const sentence = html("p", { class: "se-sentence", "aria-hidden": "true" });
  const spoken = html("p", { class: "se-spoken", role: "status" });
  const drawing = plane({
    words, extent: extentOf(model), ownValues: Boolean(model.get("value")), describedBy: hintId,
    move: (handle, point) => change(handle < 0
      ? { query: point }
      : { key: model.get("key").map((key, j) => (j === handle ? point : key)) }),
  });
  const rows = table(words);

  root.append(html("div", { class: "se-frame" },
    html("div", { class: "se-head" }, menu.element, rule, note),
    html("div", { class: "se-body" },
      html("div", { class: "se-left" }, drawing.element, legend(Boolean(model.get("value"))),
        html("p", { class: "se-hint", id: hintId },
          "Drag q or any word. With the keyboard: Tab to it, then the arrow keys (Shift: larger steps)."),
        details),
      html("div", { class: "se-right" },
        html("div", { class: "se-sliders" }, temperature.element, length.element),
        html("div", { class: "se-row" }, place, reset), rows.element, sentence, spoken))));

  let quiet;
  function draw() {
    const name = model.get("score");
    const figure = figureOf(model);
    menu.input.value = name;
    temperature.input.value = Math.log10(figure.temperature);
    temperature.show(fixed(figure.temperature, figure.temperature < 10 ? 2 : 1));
    length.input.value = figure.validLength;
    length.show(`${figure.validLength} of ${words.length}`);
    rule.replaceChildren(...formula(SCORES[name].formula));
    note.replaceChildren(...formula(SCORES[name].note));
    const listed = Object.entries(figure.parameters);
    details.hidden = listed.length === 0;
    parameters.textContent = listed.map(([key, value]) => `${key} = ${JSON.stringify(value)}`).join("\n");
    place.replaceChildren("query ", html("var", { class: "attn-query" }, "q"), ` = ${pair(figure.query)}`);
    drawing.draw(figure);
    rows.draw(figure);
    sentence.textContent = inWords(words, figure);
    clearTimeout(quiet);
    quiet = setTimeout(() => { spoken.textContent = sentence.textContent; }, QUIET_AFTER);
  }
  const watched = [...MOVABLE, "value"].map((name) => `change:${name}`);
  for (const name of watched) model.on(name, draw);
  draw();
  return () => {
    clearTimeout(quiet);
    for (const name of watched) model.off(name, draw);
  };
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

/** A labelled input with its value beside it. */
function control(tag, name, attributes, listeners) {
  const id = freshId(name.replace(" ", "-"));
  // JupyterLab's command mode takes the arrow keys unless the focused element itself says not to.
  const input = html(tag, { id, ...attributes, "data-lm-suppress-shortcuts": "true" });
  // Not an <output>: that is a live region, and a screen reader reads aria-valuetext already.
  const readout = html("span", { class: "se-readout", "aria-hidden": "true" });
  for (const [event, listener] of Object.entries(listeners)) input.addEventListener(event, () => listener(input));
  const element = html("div", { class: "se-control" }, html("label", { for: id }, name), input);
  if (tag === "input") element.append(readout);
  const show = (text) => {
    readout.textContent = text;
    set(input, { "aria-valuetext": text });
  };
  return { element, input, show };
}

function legend(ownValues) {
  const swatch = () => html("span", { class: "se-swatch", "aria-hidden": "true" });
  const entry = (role, text) => html("li", { class: `se-is-${role}` }, swatch(), text);
  return html("ul", { class: "se-legend" },
    entry("query", "query q"), entry("key", "key of a word"),
    ...(ownValues ? [entry("value", "value v")] : []),
    entry("weight", "weight α (width)"), entry("context", "context c"), entry("field", "equal score (strong: 0)"));
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
