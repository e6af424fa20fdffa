import { fixed, html, set, svg } from "./dom.js";
import { mark, visible } from "./figure.js";
import { lengthOf } from "./heat.js";

// Weights as lines between two columns of words: source on the left, target on the right. The lines of the chosen
// target word are strong, one for each source word; all others lie faint behind them, a path for each level.

const TOP = 26, BETWEEN = 120, TITLE = 40; // px: above the first word, from column to column, width of a title
const LEVELS = [0.05, 0.15, 0.35, 0.65]; // weights from which a faint line gets stronger; below the first: none

/** @param {object} of name: what the drawing is, for who cannot see it;
 *   pick: (step: number) => void, a target word was chosen;
 *   point: (step: number, place: number) => void, the pointer is over a word; -1: over none */
export function bipartite({ name, pick, point }) {
  const drawing = svg("svg", { class: "av-lines", "aria-hidden": "true" });
  const element = html("div", {
    class: "attn-scroll", tabindex: 0, role: "slider", "aria-label": `${name}: lines`, "aria-orientation": "vertical",
    "data-lm-suppress-shortcuts": "true",
  }, drawing);
  let built = null;

  element.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !built) return;
    const [at, last] = [built.step, built.target.length - 1];
    const to = { ArrowUp: at - 1, ArrowLeft: at - 1, ArrowDown: at + 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault(); // the page would scroll
    if (to >= 0 && to <= last) pick(to);
  });

  const over = (event) => {
    const name = event.target.closest("[data-side]");
    return name ? [name.dataset.side, Number(name.dataset.place)] : [null, -1];
  };
  drawing.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "mouse") return;
    const [side, n] = over(event);
    point(side === "target" ? n : -1, side === "source" ? n : -1);
  });
  drawing.addEventListener("pointerleave", () => point(-1, -1));
  drawing.addEventListener("click", (event) => {
    const [side, n] = over(event);
    if (side === "target") pick(n);
    else if (side === "source") point(-1, n);
  });

  /** @param {object} figure source, target: string[]; weights: number[][] (T, S) in 0..1; step: the chosen target
   *   word, or -1; place: a source word whose lines are shown instead, or -1; gold: [i, j][], of which those of the
   *   chosen word are drawn */
  function draw({ source, target, weights, step, place = -1, gold = [] }) {
    if (!built || built.source !== source || built.target !== target) {
      built = linesOf(source, target);
      drawing.replaceChildren(...built.parts);
      set(drawing, { width: built.width, height: built.height, viewBox: `0 0 ${built.width} ${built.height}` });
    }
    const { line } = built;
    if (built.weights !== weights) {
      built.weights = weights;
      built.faint.forEach((path, n) => set(path, {
        d: weights.flatMap((row, i) => row.map((weight, j) => (levelOf(weight) === n ? line(i, j) : ""))).join(""),
      }));
    }
    const right = gold.filter(([i, j]) => (place >= 0 ? j === place : i === step));
    for (const path of built.golden) set(path, { d: right.map(([i, j]) => line(i, j)).join("") });
    built.strong.forEach((path, n) => {
      const [i, j] = place >= 0 ? [n, place] : [step, n];
      const weight = weights[i]?.[j] ?? 0;
      set(path, {
        d: weight > 0 ? line(i, j) : null,
        "stroke-width": fixed(0.5 + 7 * weight), "stroke-opacity": fixed(0.25 + 0.75 * weight),
      });
    });
    built.step = step;
    set(element, {
      "aria-valuemin": 1, "aria-valuemax": target.length, "aria-valuenow": Math.max(step, 0) + 1,
      "aria-valuetext": step < 0 ? "none" : `${step + 1}: “${target[step]}”`,
    });
    mark(built.names.target, place >= 0 ? -1 : step, "av-chosen");
    mark(built.names.source, place, "av-chosen");
  }
  return { element, draw };
}

/** Which faint path a weight belongs to; -1: to none. */
function levelOf(weight) {
  return LEVELS.findLastIndex((level) => weight >= level);
}

const roomOf = (words) => Math.max(lengthOf(words), TITLE) + 12;

/** Pixels that the drawing takes. @param {string[]} source @param {string[]} target */
export function linesWidth(source, target) {
  return Math.ceil(roomOf(source) + BETWEEN + roomOf(target));
}

/** All marks, lines still without a place. */
function linesOf(source, target) {
  const longest = Math.max(source.length, target.length);
  const gap = longest <= 20 ? 24 : 18; // px from word to word
  const [left, right] = [roomOf(source), roomOf(target)];
  const width = linesWidth(source, target), height = TOP + longest * gap + 4;
  const y = (n, count) => TOP + (n + 0.5) * (longest / count) * gap;
  const ends = {
    source: { x: left - 6, anchor: "end", words: source },
    target: { x: left + BETWEEN + 6, anchor: "start", words: target },
  };
  const names = (side) => ends[side].words.map((word, n, words) => {
    const centre = y(n, words.length), isSource = side === "source";
    return svg("g", { class: "av-name", "data-side": side, "data-place": n },
      svg("rect", { x: isSource ? 0 : left + BETWEEN, y: centre - gap / 2, width: isSource ? left : right, height: gap }),
      svg("text", { x: ends[side].x, y: centre + 4.5, "text-anchor": ends[side].anchor }, visible(word)));
  });
  const title = (side) => svg("text",
    { class: "attn-heat-title", x: ends[side].x, y: 13, "text-anchor": ends[side].anchor }, side);
  const named = { source: names("source"), target: names("target") };
  const faint = LEVELS.map((_, n) => svg("path", { class: `av-faint av-level-${n}` }));
  const strong = Array.from({ length: longest }, () => svg("path", { class: "av-strong" }));
  const golden = ["attn-halo", "av-gold"].map((kind) => svg("path", { class: kind })); // dashes with a light rim
  return {
    source, target, width, height, faint, strong, golden, names: named, weights: null, step: -1,
    line: (i, j) => `M${left} ${round(y(j, source.length))}L${left + BETWEEN} ${round(y(i, target.length))}`,
    parts: [title("source"), title("target"), ...faint, ...strong, ...golden, ...named.source, ...named.target],
  };
}

const round = (x) => Math.round(10 * x) / 10;
