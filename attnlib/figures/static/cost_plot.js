import { curve, nameMarks, paperLines, ringMarks, total } from "./cost_marks.js";
import { nameWidth, paper } from "./cost_scale.js";
import { grouped } from "./cost_words.js";
import { freshId, html, pointerIn, set, setText, svg } from "./dom.js";

// The curves: thick the first, dashed the others, each in the colour of its largest part. A line marks the chosen
// sizes, rings the crossings. The pointer takes the line along; a slider does the same for the keyboard.

const SIDEWAYS = 6; // px that a finger goes before it moves the line
const WIDE = 340; // px that curves have at least where there are names beside them

/** @param {(size: number) => void} move the pointer asks for this size
 * @returns {{element: HTMLElement, draw: (figure: object) => void, end: () => void}} */
export function costPlot(move) {
  const clip = freshId("clip");
  const area = svg("rect");
  const layer = (name) => svg("g", { class: name });
  const [lines, curves, numbers, rings, names, point] =
    ["lines", "curves", "lines", "rings", "names", "point"].map((name) => layer(`cc-${name}`));
  set(curves, { "clip-path": `url(#${clip})` });
  const drawing = svg("svg", { class: "cc-drawing", "aria-hidden": "true" },
    svg("clipPath", { id: clip }, area), lines, curves, numbers, rings, names, point);
  const element = html("div", { class: "cc-plot" }, drawing);
  const [line, dots, text] = [svg("path"), svg("g"), svg("text")];
  const grip = svg("g", { class: "cc-grip" },
    svg("circle", { r: 9 }), svg("path", { d: "M-3,-3 L-6,0 L-3,3 M3,-3 L6,0 L3,3" }));
  point.append(line, dots, grip, text);

  let figure, sheet; // what was drawn last, and its paper
  let [asked, drawn] = ["", ""]; // what that paper was made for, and what is drawn on it
  let held = null; // where the pointer took the line, and whether it has begun to move it

  function draw(next) {
    figure = next;
    const width = Math.round(element.clientWidth) || 480;
    const now = JSON.stringify([width, figure.quantity, figure.axis, figure.log, figure.others]);
    // While the line is held the paper stands still, so that the line stays under the finger.
    if (!(held && now === asked)) {
      asked = now;
      sheet = newSheet(width);
      const result = `${now} ${sheet.end} ${sheet.high}`;
      if (result !== drawn) drawPaper();
      drawn = result;
    }
    drawPoint();
  }

  function newSheet(width) {
    const widest = 14 + Math.max(...figure.costs.map(({ name }) => nameWidth(name)));
    const named = width - widest >= WIDE; // or else the rows below say which line is whose
    return paper({
      width, height: width >= WIDE ? 228 : 260, gutter: named ? widest : 14, named, last: figure.last, here: figure.here, log: figure.log,
      curve: (size) => figure.costs.map((one) => total(one.at(size))),
    });
  }

  /** Everything but the chosen point. */
  function drawPaper() {
    const { width, height, left, right, top, bottom } = sheet;
    set(drawing, { width, height, viewBox: `0 0 ${width} ${height}` });
    set(area, { x: left, y: top - 2, width: right - left + 2, height: bottom - top + 4 });
    const drawnLines = paperLines(sheet);
    lines.replaceChildren(...drawnLines.filter((one) => one.tagName === "path"));
    numbers.replaceChildren(...drawnLines.filter((one) => one.tagName !== "path")); // above the curves, to be read
    curves.replaceChildren(...figure.costs.flatMap((one, n) => curve(one, n, sheet)).reverse());
    rings.replaceChildren(...ringMarks(figure.costs, sheet));
    names.replaceChildren(...(sheet.named ? nameMarks(figure.costs, sheet) : []));
    dots.replaceChildren(...figure.costs.map(() => svg("circle", { r: 3.5 })));
  }

  function drawPoint() {
    const { left, right, top, bottom, x, y } = sheet;
    const at = Math.min(right, Math.max(left, x(figure.here)));
    set(line, { d: `M${at},${top} V${bottom}` });
    set(grip, { transform: `translate(${at},${bottom})` });
    set(text, { x: at, y: top - 8, "text-anchor": at > (left + right) / 2 ? "end" : "start" });
    setText(text, `${figure.letter} = ${grouped(figure.here)}`);
    figure.costs.forEach((one, n) => {
      const height = y(total(one.now));
      const seen = height >= top - 1 && height <= bottom + 1; // neither cut off nor the logarithm of nothing
      set(dots.children[n], { cx: at, cy: seen ? height : null, visibility: seen ? null : "hidden" });
    });
  }

  // A finger that goes up or down scrolls the page (touch-action in the style sheet), and then the pointer is
  // cancelled; one that goes sideways, or taps, moves the line.
  function ask(event) {
    const size = sheet.size(pointerIn(drawing, event).x);
    if (size !== figure.here) move(size);
  }
  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !sheet) return;
    held = { x: event.clientX, moving: event.pointerType === "mouse" };
    element.setPointerCapture(event.pointerId);
    if (held.moving) ask(event);
  });
  element.addEventListener("pointermove", (event) => {
    if (!held || !event.buttons) return;
    held.moving ||= Math.abs(event.clientX - held.x) >= SIDEWAYS;
    if (held.moving) ask(event);
  });
  element.addEventListener("pointerup", (event) => { if (held) ask(event); });
  element.addEventListener("lostpointercapture", () => { // after pointerup and pointercancel alike
    held = null;
    draw(figure);
  });
  const watcher = new ResizeObserver(() => {
    if (figure && Math.round(element.clientWidth) !== sheet?.width) draw(figure);
  });
  watcher.observe(element);
  return { element, draw, end: () => watcher.disconnect() };
}
