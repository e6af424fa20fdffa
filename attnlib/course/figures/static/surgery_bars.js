import { fixed, html, set } from "../../../figures/static/dom.js";
import { visible } from "../../../figures/static/figure.js";

// α of one step as a row of bars that can be painted. A mouse paints across them; a finger moves one bar up and
// down (and scrolls sideways); with the keyboard the row is one Tab stop: left and right go along, up and down paint.

const FRAME = 6; // px of padding beside the bars where they scroll
const STEP = { ArrowUp: 0.05, ArrowDown: -0.05, PageUp: 0.2, PageDown: -0.2 };

/** @param {{paint: (place: number, weight: number) => void, go: (place: number) => void}} of
 * @returns {{element: HTMLElement, draw: Function}} */
export function weightBars({ paint, go }) {
  const element = html("div", { class: "as-bars", role: "group" });
  let bars = [], left = null; // px, where the chosen bar begins
  let pointer = null; // what is being pressed: {id, place, mouse, moved}

  function weightAt(bar, clientY) {
    const { top, height } = bar.track.getBoundingClientRect();
    return Math.min(1, Math.max(0, Math.round(100 * (1 - (clientY - top) / height)) / 100));
  }
  const barUnder = (clientX) => bars.findIndex(({ element: own }) => {
    const { left, right } = own.getBoundingClientRect();
    return clientX >= left && clientX < right;
  });
  element.addEventListener("pointerdown", (event) => {
    const place = barUnder(event.clientX);
    if (place < 0 || event.button !== 0 || pointer) return;
    const mouse = event.pointerType === "mouse";
    pointer = { id: event.pointerId, place, mouse, moved: false };
    if (mouse) event.preventDefault(); // no selection of text; a finger still may scroll
    bars[place].element.focus({ preventScroll: true });
    if (!mouse) return;
    element.setPointerCapture(event.pointerId);
    paint(place, weightAt(bars[place], event.clientY));
  });
  element.addEventListener("pointermove", (event) => {
    if (pointer?.id !== event.pointerId) return;
    const under = barUnder(event.clientX);
    if (pointer.mouse && under >= 0) pointer.place = under; // beside the bars it stays with the last
    pointer.moved = true;
    paint(pointer.place, weightAt(bars[pointer.place], event.clientY));
  });
  element.addEventListener("pointerup", (event) => {
    if (pointer?.id !== event.pointerId) return;
    const { place, mouse, moved } = pointer;
    pointer = null;
    if (!mouse && !moved) paint(place, weightAt(bars[place], event.clientY)); // a tap
  });
  element.addEventListener("pointercancel", () => { pointer = null; });

  element.addEventListener("keydown", (event) => {
    const place = bars.findIndex(({ element: own }) => own === event.target);
    if (place < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    const to = { ArrowLeft: place - 1, ArrowRight: place + 1 }[event.key];
    const now = bars[place].weight;
    const weight = { Home: 0, End: 1 }[event.key] ?? (event.key in STEP ? now + STEP[event.key] : undefined);
    if (to === undefined && weight === undefined) return;
    event.preventDefault(); // the page would scroll
    if (to === undefined) return void paint(place, Math.min(1, Math.max(0, weight)));
    const round = (to + bars.length) % bars.length;
    go(round);
    bars[round].element.focus();
  });

  function build(tokens) {
    bars = tokens.map((token) => {
      const fill = html("div", { class: "as-fill" }), was = html("div", { class: "as-was" });
      const track = html("div", { class: "as-track" }, fill, was);
      const own = html("div", {
        class: "as-bar", role: "slider", "aria-orientation": "vertical", "aria-valuemin": 0, "aria-valuemax": 100,
        "data-lm-suppress-shortcuts": "true",
      }, track, html("span", { class: "as-letter", "aria-hidden": "true" }, visible(token)));
      return { token, element: own, track, fill, was, weight: null };
    });
    element.replaceChildren(...bars.map(({ element: own }) => own));
  }

  /** Where not all bars have room: to the chosen one, within the element that scrolls them, and not the page. */
  function bringIntoView(begin, width) {
    if (left === begin) return;
    left = begin;
    requestAnimationFrame(() => { // laid out by then, also at first
      const scroller = element.parentElement, room = scroller.clientWidth - FRAME;
      if (room > 0) scroller.scrollLeft = Math.min(left, Math.max(scroller.scrollLeft, left + width - room));
    });
  }

  /** @param {object} of tokens: string[] (S); weights: of the step, (S); own: what the model itself would have there,
   *   (S); place: the bar that is chosen; label: what the row is; x, cell: where the first begins, how wide each is */
  function draw({ tokens, weights, own, place, label, x, cell }) {
    if (tokens.length !== bars.length || tokens.some((token, j) => token !== bars[j].token)) build(tokens);
    set(element, { "aria-label": label });
    element.style.paddingLeft = `${x}px`;
    element.style.setProperty("--as-cell", `${cell}px`);
    bringIntoView(x + place * cell, cell);
    bars.forEach((bar, j) => {
      const chosen = j === place;
      set(bar.element, { tabindex: chosen ? 0 : -1 });
      bar.element.classList.toggle("as-chosen", chosen);
      bar.was.style.bottom = `${100 * own[j]}%`;
      if (bar.weight === weights[j]) return;
      bar.weight = weights[j];
      bar.fill.style.height = `${100 * bar.weight}%`;
      set(bar.element, {
        "aria-label": `weight on “${bar.token}”, character ${j + 1} of ${bars.length}`,
        "aria-valuenow": Math.round(100 * bar.weight), "aria-valuetext": fixed(bar.weight),
      });
    });
  }
  return { element, draw };
}
