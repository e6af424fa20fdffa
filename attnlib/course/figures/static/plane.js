import { contours } from "./contours.js";
import { fixed, pointerIn, set, svg } from "../../../figures/static/dom.js";
import { sides } from "./labels.js";

// The plane: contour lines of the score, the query as an arrow, keys as dots, the context as a diamond in
// their midst. Query and keys are handles: for mouse and finger, and one Tab stop each for the arrow keys.

const SIZE = 400; // of the drawing, in its own units
const STEP = 0.1; // of an arrow key; five times that with Shift
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] };

/** Build the plane.
 * @param {string[]} words
 * @param {number} extent the plane is [-extent, extent]²
 * @param {boolean} ownValues values have places of their own (otherwise a key is its value)
 * @param {(handle: number, point: number[]) => void} move handle -1 is the query, others are keys
 * @returns {{element: SVGElement, draw: Function}} */
export function plane({ words, extent, ownValues, describedBy, move }) {
  const scale = SIZE / 2 / (extent + 0.3);
  const place = ([x, y]) => [SIZE / 2 + x * scale, SIZE / 2 - y * scale];
  const element = svg("svg", {
    class: "se-plane", viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group",
    "aria-label": "plane of query, keys and context",
  });
  // What stands still is aria-hidden: the table and the sentence below say the same in words.
  const layer = (name) => element.appendChild(svg("g", { class: name, "aria-hidden": "true" }));
  const field = layer("se-field");
  layer("se-axes").append(...axes(extent, place));
  const lines = layer("se-lines");
  const arrows = layer("se-arrows");
  const marks = layer("se-marks");

  const seen = arrows.appendChild(svg("path", { class: "se-seen" }));
  const shaft = arrows.appendChild(svg("path", { class: "se-query-arrow" }));
  const links = words.map(() => lines.appendChild(svg("path", { class: "se-link" })));
  const ties = words.map(() => lines.appendChild(svg("path", { class: "se-tie" })));
  const values = words.map((_, j) => marks.appendChild(value(ownValues, j)));
  const handle = (n, kind, name, text) => element.appendChild(
    makeHandle({ kind, name, text, describedBy, extent, place, move: (point) => move(n, point) }));
  const keys = words.map((word, j) => handle(j, "key", `key ${j + 1}, “${word}”`, word));
  const query = handle(-1, "query", "query q", "q");
  // Above the keys, which it may lie on, but not in the way of the pointer.
  const context = element.appendChild(svg("g", { class: "se-context", "aria-hidden": "true" },
    svg("path", { d: "M0,-9 L9,0 L0,9 L-9,0 Z" }), label("c")));

  function draw(figure) {
    const centre = figure.context;
    drawField(field, figure.score, JSON.stringify([figure.name, figure.query, figure.parameters]), extent, place);
    set(seen, { d: figure.seen ? arrow(place([0, 0]), place(figure.seen)) : null });
    set(shaft, { d: arrow(place([0, 0]), place(figure.query), 9) });
    moveHandle(query, figure.query, place);
    keys.forEach((key, j) => {
      const [weight, visible] = [figure.weights[j], j < figure.validLength];
      moveHandle(key, figure.keys[j], place);
      key.classList.toggle("se-hidden", !visible);
      set(links[j], {
        d: visible ? `M${place(centre)} L${place(figure.values[j])}` : null,
        "stroke-width": 1 + 9 * weight,
      });
      if (ownValues) {
        set(values[j], { transform: `translate(${place(figure.values[j])})` });
        values[j].classList.toggle("se-hidden", !visible);
        set(ties[j], { d: `M${place(figure.keys[j])} L${place(figure.values[j])}` });
      }
    });
    set(context, { transform: `translate(${place(centre)})` });
    context.classList.toggle("se-hidden", figure.validLength === 0);
    writeNames([[query, figure.query], [context, centre], ...keys.map((key, j) => [key, figure.keys[j]]),
      ...(ownValues ? values.map((square, j) => [square, figure.values[j]]) : [])], place);
  }
  return { element, draw };
}

function axes(extent, place) {
  const line = (from, to) => svg("path", { d: `M${place(from)} L${place(to)}` });
  const whole = Array.from({ length: 2 * Math.floor(extent) + 1 }, (_, n) => n - Math.floor(extent));
  const dots = whole.flatMap((x) => whole.map((y) => {
    const [cx, cy] = place([x, y]);
    return svg("circle", { cx, cy, r: 1.2 });
  }));
  const number = (x, point, [dx, dy]) => {
    const [px, py] = place(point);
    return svg("text", { x: px + dx, y: py + dy, "text-anchor": dx < 0 ? "end" : "middle" }, fixed(x, 0));
  };
  const numbers = whole.filter((x) => x !== 0 && x % Math.ceil(extent / 3) === 0)
    .flatMap((x) => [number(x, [x, 0], [0, 14]), number(x, [0, x], [-6, 4])]);
  return [...dots, line([-extent, 0], [extent, 0]), line([0, -extent], [0, extent]), ...numbers];
}

/** Lines of equal score: what a key would get at any place. Weak for negative scores, strong for 0.
 * @param {string} same what the score depends on: lines that would come out the same are not drawn again */
function drawField(layer, score, same, extent, place) {
  if (layer.same === same) return;
  layer.same = same;
  const path = ({ level, segments }) => svg("path", {
    class: level === 0 ? "se-zero" : level < 0 ? "se-negative" : "se-positive",
    d: segments.map(([from, to]) => `M${rounded(place(from))}L${rounded(place(to))}`).join(""),
  });
  layer.replaceChildren(...(score ? contours(score, extent).map(path) : []));
}

const rounded = (point) => point.map((x) => Math.round(10 * x) / 10);

/** An arrow as one path. @param {number} gap how far before the tip the head ends, for a dot that sits there */
function arrow([x0, y0], [x1, y1], gap = 0) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < gap + 4) return "";
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const [tx, ty] = [x1 - gap * ux, y1 - gap * uy];
  const wing = (side) => `${tx - 9 * ux + side * 5 * uy},${ty - 9 * uy - side * 5 * ux}`;
  return `M${x0},${y0} L${tx},${ty} M${wing(1)} L${tx},${ty} L${wing(-1)}`;
}

const label = (text) => svg("text", { class: "se-label" }, text);

function value(ownValues, j) {
  const square = svg("rect", { x: -6, y: -6, width: 12, height: 12 });
  const name = svg("text", { class: "se-label" }, "v", svg("tspan", { dy: 3, "font-size": 10 }, j + 1));
  return svg("g", { class: "se-value" }, ...(ownValues ? [square, name] : []));
}

/** A point that can be moved. ARIA has no two-dimensional slider: it is a slider that speaks both numbers. */
function makeHandle({ kind, name, text, describedBy, extent, place, move }) {
  const handle = svg("g", {
    class: `se-handle se-${kind}`, tabindex: 0, role: "slider", "aria-roledescription": "movable point",
    "aria-label": name, "aria-describedby": describedBy, "aria-valuemin": -extent, "aria-valuemax": extent,
    // JupyterLab's command mode takes the arrow keys unless the focused element itself says not to.
    "data-lm-suppress-shortcuts": "true",
  },
  svg("circle", { class: "se-touch", r: 20 }),
  svg("circle", { class: "se-ring", r: 13 }),
  svg("circle", { class: "se-dot", r: 7 }),
  label(text));

  const clamp = (x) => Math.round(100 * Math.min(extent, Math.max(-extent, x))) / 100;
  const moveTo = (point) => move(point.map(clamp));
  let grip = null; // from the pointer to the point, so that nothing jumps when it is grabbed off-centre

  handle.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const [x, y] = pointAt(event, handle, place);
    grip = [handle.point[0] - x, handle.point[1] - y];
    handle.setPointerCapture(event.pointerId);
    handle.focus({ preventScroll: true });
    event.preventDefault(); // no text selection, no scrolling
  });
  // Chromium ignores touch-action inside of an SVG; this keeps the page still while a finger holds a handle.
  handle.addEventListener("touchstart", (event) => event.preventDefault(), { passive: false });
  handle.addEventListener("pointermove", (event) => {
    if (event.buttons === 0) grip = null; // let go outside of the window or the frame, where nobody told us
    if (!grip) return;
    const [x, y] = pointAt(event, handle, place);
    moveTo([x + grip[0], y + grip[1]]);
  });
  handle.addEventListener("lostpointercapture", () => { grip = null; }); // after pointerup and pointercancel alike

  handle.addEventListener("keydown", (event) => {
    const way = ARROWS[event.key];
    if (!way || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault(); // the page would scroll
    const step = event.shiftKey ? 5 * STEP : STEP;
    moveTo(handle.point.map((x, i) => x + step * way[i]));
  });
  return handle;
}

/** The point of the plane under the pointer. */
function pointAt(event, handle, place) {
  const { x, y } = pointerIn(handle.ownerSVGElement, event);
  const [x0, y0] = place([0, 0]);
  const unit = place([1, 0])[0] - x0;
  return [(x - x0) / unit, (y0 - y) / unit];
}

function moveHandle(handle, point, place) {
  handle.point = point;
  const [x, y] = place(point);
  set(handle, {
    transform: `translate(${x},${y})`,
    "aria-valuenow": Math.round(100 * point[0]) / 100,
    "aria-valuetext": `x ${fixed(point[0])}, y ${fixed(point[1])}`,
  });
}

/** Each named mark gets its name on a side where it can be read. */
function writeNames(marks, place) {
  const texts = marks.map(([mark]) => mark.querySelector("text"));
  const points = marks.map(([, point], n) => {
    const [x, y] = place(point);
    return { x, y, text: texts[n].textContent };
  });
  sides(points, SIZE).forEach((side, n) => set(texts[n], side));
}
