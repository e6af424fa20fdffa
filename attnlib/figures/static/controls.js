import { freshId, html, set, setText } from "./dom.js";

// The controls of the figures. Each is a plain form element with a label, in the order of Tab, and is shown what
// the model holds: it keeps no state of its own.

// JupyterLab's command mode takes the arrow keys unless the focused element itself says not to.
const OWN_KEYS = { "data-lm-suppress-shortcuts": "true" };

/** A slider with its value beside it.
 * @param {string} label @param {object} range min, max, step
 * @param {(value: number) => void} move
 * @returns {{element: HTMLElement, input: HTMLInputElement, show: (value: number, text: string) => void}} */
export function slider(label, range, move) {
  const input = html("input", { type: "range", id: freshId("slider"), ...range, ...OWN_KEYS });
  // Not an <output>: that is a live region, and a screen reader reads aria-valuetext already.
  const readout = html("span", { class: "attn-readout", "aria-hidden": "true" });
  input.addEventListener("input", () => move(Number(input.value)));
  const element = html("div", { class: "attn-control attn-slider" }, html("label", { for: input.id }, label), input, readout);
  function show(value, text) {
    input.value = value;
    setText(readout, text);
    set(input, { "aria-valuetext": text });
  }
  return { element, input, show };
}

/** A menu. @param {string} label @param {[value: string, text: string][]} options
 * @param {(value: string) => void} choose */
export function menu(label, options, choose) {
  const input = html("select", { id: freshId("menu"), ...OWN_KEYS },
    ...options.map(([value, text]) => html("option", { value }, text)));
  input.addEventListener("change", () => choose(input.value));
  const element = html("div", { class: "attn-control" }, html("label", { for: input.id }, label), input);
  return { element, input, show(value) { input.value = value; } };
}

/** A box to tick. @param {string} label @param {(on: boolean) => void} turn */
export function tick(label, turn) {
  const input = html("input", { type: "checkbox", id: freshId("tick"), ...OWN_KEYS });
  input.addEventListener("change", () => turn(input.checked));
  const element = html("div", { class: "attn-control attn-tick" }, input, html("label", { for: input.id }, label));
  return { element, input, show(on) { input.checked = on; } };
}

/** A line to type in. The second line says what is wrong with it, in words.
 * @param {string} label @param {object} attributes maxlength, spellcheck, … @param {(text: string) => void} type
 * @param {boolean} [wraps] a text that is longer than the line goes on in the next one */
export function field(label, attributes, type, wraps = false) {
  const complaint = html("p", { class: "attn-complaint", id: freshId("complaint"), role: "alert" });
  const input = html(wraps ? "textarea" : "input", {
    ...(wraps ? { rows: 1 } : { type: "text" }), id: freshId("field"), autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    "aria-describedby": complaint.id, ...attributes, ...OWN_KEYS,
  });
  input.addEventListener("input", () => type(input.value));
  if (wraps) input.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); }); // one line
  const element = html("div", { class: "attn-field" },
    html("div", { class: "attn-control" }, html("label", { for: input.id }, label), input), complaint);
  function show(text, wrong = "") {
    if (input.value !== text) input.value = text; // writing it again would move the cursor
    set(input, { "aria-invalid": wrong ? "true" : null });
    setText(complaint, wrong);
  }
  return { element, input, show };
}

/** A button. @param {string} text @param {() => void} press @param {string} [name] for who cannot see a symbol */
export function button(text, press, name) {
  const element = html("button", { type: "button", class: "attn-button", "aria-label": name ?? null, ...OWN_KEYS }, text);
  element.addEventListener("click", press);
  return element;
}

/** A row of controls that wraps where there is no room. @param {...Node} controls */
export function row(...controls) {
  return html("div", { class: "attn-row" }, ...controls);
}

/** First step, back, play or pause, on: for what happens one step after the other.
 * @param {object} of label: what a step is; at: () => number, the present step; count: () => number;
 *   go: (step: number) => void; every: ms between two steps; brief: play alone, beside a slider of the same steps
 * @returns {{element: HTMLElement, show: () => void, stop: () => void}} */
export function player({ label, at, count, go, every = 900, brief = false }) {
  let timer = null;
  const first = button("|◀", () => jump(0), `first ${label}`);
  // Round and round: the step before the first is the last, so that neither button is ever dead.
  const back = button("◀", () => jump(at() - 1), `${label} before`);
  const play = button("▶ Play", () => (timer === null ? start() : stop()));
  const on = button("▶|", () => jump(at() + 1), `next ${label}`);
  const element = html("div", { class: "attn-player", role: "group", "aria-label": `play, ${label} by ${label}` },
    ...(brief ? [play] : [first, back, play, on]));

  function jump(step) {
    stop();
    const to = (step + count()) % count(); // NaN where there is no step
    if (to >= 0 && to !== at()) go(to);
  }
  function start() {
    if (at() >= count() - 1) go(0);
    timer = setInterval(() => {
      if (at() >= count() - 1) stop();
      else go(at() + 1);
    }, every);
    show();
  }
  function stop() {
    clearInterval(timer);
    timer = null;
    show();
  }
  function show() {
    setText(play, timer === null ? "▶ Play" : "⏸ Pause");
    for (const [control, off] of [[first, at() <= 0], [back, count() < 2], [on, count() < 2]]) {
      set(control, { "aria-disabled": off ? "true" : null }); // not `disabled`, which would lose the focus
    }
  }
  return { element, show, stop };
}
