import { fixed, freshId, html, set, setText, svg } from "../../../figures/static/dom.js";
import { argmax } from "./network.js";

// The heads of a layer side by side: a small map of weights each, and the map is the switch. Weights are drawn in
// steps, one path per step and head: a handful of elements, however many cells, in colours that follow the page.

const STEPS = 20;
const BESIDE = 4; // so many heads have room beside the answers; more have a line of their own

/** @param {number} H how many heads at most @param {(h: number) => void} toggle
 * @returns {{element: HTMLElement, draw: (maps: number[][][], off: number[], key: string) => void, outline: Function}} */
export function headMaps(H, toggle) {
  const cards = Array.from({ length: H }, (_, h) => card(h, toggle));
  const element = html("div", { class: "hg-maps", role: "group", "aria-label": "heads" }, ...cards.map((one) => one.element));
  element.classList.toggle("hg-row", H > BESIDE);

  /** @param {(h: number, on: boolean) => number[][]} weightsOf (T, T) @param {number} count H of this model
   * @param {number[]} off @param {string} key the model and the row: what else the maps depend on */
  function draw(weightsOf, count, off, key) {
    set(element, { style: `--hg-columns: ${count}; --hg-narrow: ${count <= BESIDE ? count : Math.ceil(count / 2)}` });
    element.classList.toggle("hg-many", count > 2);
    cards.forEach((one, h) => {
      one.element.hidden = h >= count;
      if (h < count) one.draw(weightsOf, !off.includes(h), key);
    });
  }
  /** Outline the row of a position in all maps; -1: none. */
  function outline(t) {
    for (const one of cards) one.outline(t);
  }
  return { element, draw, outline };
}

function card(h, toggle) {
  const steps = Array.from({ length: STEPS }, (_, n) => svg("path", { "fill-opacity": (n + 1) / STEPS }));
  const asks = svg("rect", { class: "hg-asks", x: 0, height: 1, visibility: "hidden" });
  const drawing = svg("svg", { "aria-hidden": "true" }, ...steps, asks);
  const state = html("span", { class: "hg-state", "aria-hidden": "true" });
  const looks = html("span", { id: freshId("looks"), hidden: true });
  const element = html("button", {
    type: "button", class: "hg-head", role: "switch", "aria-describedby": looks.id, "data-lm-suppress-shortcuts": "true",
  }, drawing, html("span", { class: "hg-name" }, `head ${h}`), state, looks);
  element.addEventListener("click", () => toggle(h));
  let shown = null, T = 0;

  function draw(weightsOf, on, key) {
    if (shown === `${on} ${key}`) return;
    shown = `${on} ${key}`;
    const weights = weightsOf(h, on);
    T = weights.length;
    set(drawing, { viewBox: `0 0 ${T} ${T}` });
    set(asks, { width: T });
    stepPaths(weights, STEPS).forEach((path, n) => steps[n].setAttribute("d", path));
    set(element, { "aria-checked": String(on) });
    setText(state, on ? "on" : "off");
    setText(looks, on ? inWordsOfMap(weights) : "attends alike to everything");
  }
  function outline(t) {
    set(asks, { y: t, visibility: t >= 0 && t < T ? "visible" : "hidden" });
  }
  return { element, draw, outline };
}

/** The cells of a map as outlines, those of about the same weight in one path.
 * @param {number[][]} weights (T, S) in 0..1 @param {number} steps
 * @returns {string[]} (steps): the nth holds the cells whose weight is (n + 1) / steps, about */
export function stepPaths(weights, steps) {
  const paths = Array.from({ length: steps }, () => "");
  weights.forEach((row, i) => {
    for (let j = 0; j < row.length;) {
      const step = Math.round(steps * row[j]), start = j;
      while (j < row.length && Math.round(steps * row[j]) === step) j++;
      if (step > 0) paths[step - 1] += `M${start} ${i}h${j - start}v1H${start}z`;
    }
  });
  return paths;
}

/** Where a head looks, for who cannot see the map: its most frequent choice, by place and by distance.
 * @param {number[][]} weights (T, T) @returns {string} */
export function inWordsOfMap(weights) {
  const T = weights.length;
  const best = weights.map(argmax);
  const mass = weights.reduce((sum, row, i) => sum + row[best[i]], 0) / T;
  const most = (names) => {
    const counts = new Map();
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    return [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
  };
  const [place, atPlace] = most(best), [distance, atDistance] = most(best.map((j, i) => j - i));
  const there = distance === 0 ? "itself" : `the token ${Math.abs(distance)} ${distance < 0 ? "before" : "after"}`;
  const where = atPlace >= atDistance ? `position ${place + 1}` : there;
  const times = Math.max(atPlace, atDistance);
  return `looks most at ${where} from ${times} of ${T} positions; largest weight ${fixed(mass)} on average`;
}
