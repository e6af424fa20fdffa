import { html, set, setText } from "./dom.js";
import { questionCard } from "./questions.js";

// What every figure has: a frame, questions to bet on, a sentence that says what is seen, its numbers in a table, and
// an end that is told when something fails. All state is in the model; draw() shows it.

const QUIET_AFTER = 400; // ms without a change, after which the sentence is read out
const SPARE = " mmm"; // a sentence of fewer letters may still be the wider one

/** Bring a figure to life.
 * @param {object} model of anywidget @param {HTMLElement} root
 * @param {string} kind prefix of the figure's own classes @param {string} title what it is, for who cannot see it
 * @param {string[]} watch traits after whose change everything is drawn again
 * @param {Node[]} parts the body of the figure
 * @param {() => string} draw shows the model; returns what is seen, in one sentence
 * @param {() => string[]} [sentences] those that a slider may bring, asked for after every draw; what is below the
 *   sentence does not move in a drag, because there is room for the longest of these, and of those shown so far
 * @param {() => {caption: string, head: string[], rows: string[][]}} [numbers] the same as a table; head cells are
 *   never empty, the first cell of a row names it
 * @param {() => void} [end] stops what the figure has started: timers, listeners of the document
 * @returns {() => void} takes it down */
export function liveFigure({ model, root, kind, title, watch, parts, draw, sentences = () => [], numbers, end = () => {} }) {
  // Shown at once, and read out once the hand is still: a screen reader must not be flooded in a drag.
  const sentence = html("p", { class: "attn-sentence", "aria-hidden": "true" });
  const said = html("div", { class: "attn-said", "data-room": "" }, sentence);
  const spoken = html("p", { class: "attn-spoken", role: "status" });
  const table = numbers ? numbersTable(numbers) : null;
  const card = questionCard({ show: (traits) => change(model, traits) });
  const ask = () => card.draw(model.get("questions") ?? []);
  root.classList.add("attn", kind);
  root.append(html("div", { class: "attn-frame", role: "group", "aria-label": title }, card.element,
    ...parts, html("div", { class: "attn-foot" }, said, spoken, ...(table ? [table.element] : []))));

  let quiet, waiting = false, ended = false;
  function show() {
    waiting = false;
    if (ended) return;
    try {
      setText(sentence, draw());
      keepRoom();
      table?.draw();
    } catch (error) {
      takeDown();
      // This figure stops, in its place and in words; the page and the other figures go on.
      root.replaceChildren(html("p", { class: "attn-frame attn-stopped", role: "alert" },
        `This figure stopped: ${error.message ?? error}. Load the page again to restart it.`));
      console.error(error);
      return;
    }
    clearTimeout(quiet);
    quiet = setTimeout(() => { spoken.textContent = sentence.textContent; }, QUIET_AFTER);
  }
  function keepRoom() {
    const longer = [sentence.textContent, ...sentences()].map((text) => `${text}${SPARE}`)
      .reduce((a, b) => (b.length > a.length ? b : a), said.dataset.room);
    set(said, { "data-room": longer });
  }
  // Several traits may change in one go: they are drawn once, before the browser paints.
  function soon() {
    if (!waiting) queueMicrotask(show);
    waiting = true;
  }
  function takeDown() {
    ended = true;
    clearTimeout(quiet);
    for (const name of watch) model.off(`change:${name}`, soon);
    model.off("change:questions", ask);
    end();
  }
  for (const name of watch) model.on(`change:${name}`, soon);
  model.on("change:questions", ask);
  ask();
  show();
  return takeDown;
}

/** Change traits of the model, and tell whoever else holds it. */
export function change(model, traits) {
  for (const [name, value] of Object.entries(traits)) model.set(name, value);
  model.save_changes();
}

/** A folded table, filled only while it is open: nobody should pay for numbers that nobody reads. */
function numbersTable(numbers) {
  const table = html("table", { class: "attn-numbers" });
  const element = html("details", { class: "attn-details" },
    html("summary", { "data-lm-suppress-shortcuts": "true" }, "The numbers"),
    // A wide table scrolls by itself, also with the arrow keys.
    html("div", { class: "attn-scroll", tabindex: 0, role: "group", "aria-label": "table of the numbers" }, table));
  function draw() {
    if (!element.open) return;
    const { caption, head, rows } = numbers();
    const cell = (tag, scope) => (text) => html(tag, scope ? { scope } : {}, text);
    table.replaceChildren(
      html("caption", {}, caption),
      html("thead", {}, html("tr", {}, ...head.map(cell("th", "col")))),
      html("tbody", {}, ...rows.map(([name, ...rest]) =>
        html("tr", {}, cell("th", "row")(name), ...rest.map(cell("td"))))));
  }
  element.addEventListener("toggle", draw);
  return { element, draw };
}

/** A place for the figure's words on a tokenised axis: a token is shown as it is, blanks made visible. */
export function visible(token) {
  return token === "" ? "∅" : token.replace(/ /g, "␣").replace(/\n/g, "⏎").replace(/\t/g, "⇥");
}

/** Whether the reader wants things to stand still. */
export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Mark one of several elements. @param {Element[]} elements @param {number} chosen @param {string} name of a class */
export function mark(elements, chosen, name) {
  elements.forEach((element, n) => {
    element.classList.toggle(name, n === chosen);
    set(element, { "aria-current": n === chosen ? "true" : null });
  });
}
