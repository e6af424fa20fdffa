import { html, set } from "./dom.js";
import { mark } from "./figure.js";

// One of several things beside each other: a single Tab stop whose arrow keys choose, and each thing can be clicked.

/** @param {object} of name: what is chosen, for who cannot see it; kind: a class; pick: (n: number) => void
 * @returns {{element: HTMLElement, fill: Function, show: Function}} */
export function choices({ name, kind, pick }) {
  const element = html("div", {
    class: `wl-choices ${kind}`, tabindex: 0, role: "slider", "aria-label": name, dir: "auto",
    "data-lm-suppress-shortcuts": "true",
  });
  let things = [], chosen = 0;

  element.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const on = getComputedStyle(element).direction === "rtl" ? -1 : 1; // the next one is where the text goes on
    const to = {
      ArrowRight: chosen + on, ArrowLeft: chosen - on, ArrowDown: chosen + 1, ArrowUp: chosen - 1,
      Home: 0, End: things.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault(); // the page would scroll
    if (to >= 0 && to < things.length && to !== chosen) pick(to);
  });
  element.addEventListener("click", (event) => {
    const n = things.findIndex((thing) => thing.contains(event.target));
    if (n >= 0 && n !== chosen) pick(n);
  });

  /** @param {{name: string, parts: Node[]}[]} given */
  function fill(given) {
    things = given.map(({ name: title, parts }) => html("span", { class: "wl-choice", title }, ...parts));
    element.replaceChildren(...things);
    set(element, { "aria-valuemin": 1, "aria-valuemax": things.length });
  }
  /** @param {number} n the chosen one @param {string} text what it is, in words */
  function show(n, text) {
    chosen = n;
    mark(things, n, "wl-chosen");
    set(element, { "aria-valuenow": n + 1, "aria-valuetext": text });
  }
  return { element, fill, show };
}
