import { spread } from "./cost_scale.js";
import { crossingAt, grouped } from "./cost_words.js";
import { svg } from "./dom.js";

// What is drawn on the paper of cost_scale.js: lines, curves, crossings, names.

export const DASHES = ["", "10 4", "2 3", "10 3 2 3", "5 3", "16 4 4 4", "1 5", "10 3 2 3 2 3"];

const SAMPLES = 96; // of a curve
const GAP = 16; // between two names
const DIGIT = 7.6; // width of a bold digit of 13 px, about

/** @param {number[]} numbers @returns {number} */
export function total(numbers) {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** The class that gives a part the colour of its role. @param {?string} role */
export function roleClass(role) {
  return role ? ` cc-${role}` : "";
}

/** @param {object} sheet of paper() @returns {SVGElement[]} */
export function paperLines({ rows, columns, left, right, top, bottom }) {
  let free = -Infinity;
  const legible = columns.filter(([at, text]) => {
    const half = 4 * text.length;
    if (at - half < free || at + half > right + 30) return false;
    free = at + half + 8;
    return true;
  });
  return [
    ...rows.map(([at]) => svg("path", { d: `M${left},${at} H${right}` })),
    ...columns.map(([at]) => svg("path", { d: `M${at},${top} V${bottom}` })),
    ...rows.map(([at, text]) => svg("text", { x: left + 3, y: at < top + 5 ? at + 13 : at - 3 }, text)),
    ...legible.map(([at, text]) => svg("text", { x: at, y: bottom + 24, "text-anchor": "middle" }, text)),
  ];
}

/** One path for each part of a cost, along the stretches where it is the largest.
 * @param {object} one name, parts, at: (size) => number[] @param {number} n its place among the costs
 * @param {object} sheet of paper() @returns {SVGElement[]} */
export function curve(one, n, sheet) {
  const { begin, end, log, x, y } = sheet;
  const d = one.parts.map(() => "");
  let last = null;
  for (let k = 0; k <= SAMPLES; k += 1) {
    const size = log ? begin * (end / begin) ** (k / SAMPLES) : begin + (end - begin) * (k / SAMPLES);
    const parts = one.at(size);
    const sum = total(parts);
    if (log && sum === 0) continue; // nothing has no logarithm
    const at = `${x(size).toFixed(1)},${Math.max(y(sum), -1e4).toFixed(1)}`;
    const here = { at, part: parts.indexOf(Math.max(...parts)) };
    if (last) d[here.part] += last.part === here.part && d[here.part] ? ` L${here.at}` : ` M${last.at} L${here.at}`;
    last = here;
  }
  return d.map((path, p) => svg("path", {
    d: path || null, "stroke-dasharray": DASHES[n] || null,
    class: `cc-curve${n ? "" : " cc-first"}${roleClass(one.parts[p].role)}`,
  }));
}

/** Crossings on the first curve, and their numbers as far as there is room: below to the right, above to the left.
 * @param {object[]} costs at, crossing @param {object} sheet of paper() @returns {SVGElement[]} */
export function ringMarks(costs, { left, right, top, bottom, x, y }) {
  const places = [...new Set(costs.slice(1).flatMap((one) => one.crossing.places))].sort((a, b) => a - b);
  const marks = places
    .map((place) => ({ at: x(place), height: y(total(costs[0].at(place))), text: grouped(crossingAt(place)) }))
    .filter(({ at, height }) => at >= left && at <= right && height >= top && height <= bottom);
  let free = right;
  for (const mark of [...marks].reverse()) {
    if (mark.at + 8 + DIGIT * mark.text.length > free) continue;
    mark.place = { x: mark.at + 8, y: mark.height + 17 };
    free = mark.at - 6;
  }
  free = left;
  for (const mark of marks) {
    if (mark.at - 9 - DIGIT * mark.text.length < free) continue;
    if (!mark.place) mark.place = { x: mark.at - 9, y: mark.height - 8, "text-anchor": "end" };
    free = mark.at;
  }
  return [
    ...marks.map(({ at, height }) => svg("circle", { cx: at, cy: height, r: 5.5 })),
    ...marks.filter(({ place }) => place).map(({ place, text }) => svg("text", place, text)),
  ];
}

/** Names at the right ends, each tied to its curve. @param {object[]} costs name, at
 * @param {object} sheet of paper() @returns {SVGElement[]} */
export function nameMarks(costs, { right, top, bottom, end, y }) {
  const ends = costs.map(({ name, at }, n) => ({ name, n, height: y(total(at(end))) }))
    .filter(({ height }) => Number.isFinite(height)).sort((a, b) => a.height - b.height);
  const wanted = ends.map(({ height }) => Math.min(bottom, Math.max(top, height)));
  const placed = spread(wanted, GAP, top, bottom);
  return ends.flatMap(({ name, n }, k) => [
    svg("path", { d: `M${right + 1},${wanted[k]} L${right + 9},${placed[k]}` }),
    svg("text", { x: right + 12, y: placed[k] + 4, class: n ? null : "cc-first" }, name),
  ]);
}
