import { set, setText, svg } from "../../../figures/static/dom.js";

// How far the models are, against steps: one line each, named at its end.

const HEIGHT = 104; // px
const ROOM = { left: 34, right: 8, top: 24, bottom: 20 }; // px around the lines

/** @param {{title: string, top: number, digits: number}} of the scale: from 0 to top */
export function learningCurves({ title, top, digits }) {
  const heading = svg("text", { x: 0, y: 11, class: "lr-heading" }, title);
  const frame = svg("path", { class: "lr-axis" });
  const scale = [0, top].map((y) => svg("text", { class: "lr-scale", "text-anchor": "end" }, y.toFixed(digits)));
  const last = svg("text", { class: "lr-scale", "text-anchor": "end" });
  const lines = [0, 1].map((n) => svg("path", { class: `lr-line lr-line-${n}` }));
  const here = svg("path", { class: "lr-here" });
  const element = svg("svg", { class: "lr-curves", height: HEIGHT, "aria-hidden": "true" }, heading, frame, ...scale, last, here, ...lines);

  /** @param {{step: number, value: ?number}[][]} runs @param {number} at the step that is shown
   * @param {number} width px that there are */
  function draw(runs, at, width) {
    const steps = Math.max(20, ...runs.flat().map(({ step }) => step));
    const x = (step) => ROOM.left + ((width - ROOM.left - ROOM.right) * step) / steps;
    const y = (value) => ROOM.top + (HEIGHT - ROOM.top - ROOM.bottom) * (1 - Math.min(value, top) / top);
    set(element, { viewBox: `0 0 ${width} ${HEIGHT}`, width: "100%" });
    set(frame, { d: `M${ROOM.left},${ROOM.top}V${y(0)}H${width - ROOM.right}` });
    [0, top].forEach((value, n) => set(scale[n], { x: ROOM.left - 4, y: y(value) + 4 }));
    set(last, { x: width - ROOM.right, y: HEIGHT - 5 });
    setText(last, `${steps} steps`);
    set(here, { d: `M${x(at)},${ROOM.top}V${y(0)}` });
    lines.forEach((line, n) => set(line, { d: (runs[n] ?? []).filter(({ value }) => value !== null)
      .map(({ step, value }, k) => `${k ? "L" : "M"}${x(step).toFixed(1)},${y(value).toFixed(1)}`).join("") || null }));
  }
  return { element, draw };
}
