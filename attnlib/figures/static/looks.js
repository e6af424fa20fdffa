import { html, set, svg } from "./dom.js";
import { bilinear, strongest, tiled } from "./regions.js";

// An image under the weights of one word: tinted, the strongest region framed, the weights of the strongest written.

const STRONGEST = 0.7; // opacity of the tint where a word looks most
const FINE = { large: 240, small: 60 }; // pixels of a smooth tint's longer side, about; the browser stretches it
const NUMBERS = 5; // regions that say their weight, at most,
const WORTH = 0.1; // and the weight from which they do

/** Paint the tint of a word: opacity in proportion to the weight, the strongest region always the same.
 * @param {HTMLCanvasElement} canvas @param {number[]} weights one per region @param {[rows, columns]} grid
 * @param {boolean} smooth between the regions' centres @param {string} colour @param {"large" | "small"} kind */
export function paint(canvas, weights, grid, smooth, colour, kind) {
  canvas.classList.toggle("wl-tiles", !smooth);
  const scale = smooth ? Math.max(1, Math.round(FINE[kind] / Math.max(...grid))) : 1;
  const [height, width] = grid.map((n) => n * scale);
  if (canvas.width !== width || canvas.height !== height) set(canvas, { width, height });
  const brush = canvas.getContext("2d", { willReadFrequently: true });
  const alpha = (smooth ? bilinear : tiled)(weights, grid, [height, width]);
  const top = Math.max(...weights);
  const tint = brush.createImageData(width, height);
  if (top > 0) alpha.forEach((weight, n) => { tint.data[4 * n + 3] = Math.round((255 * STRONGEST * weight) / top); });
  brush.putImageData(tint, 0, 0);
  brush.globalCompositeOperation = "source-in"; // the opacity stays, the colour comes
  brush.fillStyle = colour;
  brush.fillRect(0, 0, width, height);
  brush.globalCompositeOperation = "source-over";
}

/** An image, small or large, with its tint over it. @param {string} kind class */
export function tintedImage(kind) {
  const image = html("img", { alt: "", draggable: "false" });
  const canvas = html("canvas", { "aria-hidden": "true" });
  const element = html("span", { class: `wl-tinted ${kind}` }, image, canvas);
  let shown = null;
  /** @param {[height: number, width: number]} size in pixels */
  function show(source, [height, width], description = "") {
    if (shown === source) return; // the browser would read it again
    shown = source;
    set(image, { src: source, alt: description, width, height });
    element.style.aspectRatio = `${width} / ${height}`;
    image.classList.toggle("wl-few", Math.max(height, width) < 160); // every pixel of it can be seen
  }
  return { element, canvas, show };
}

/** The large image of the figure. */
export function stage() {
  const picture = tintedImage("wl-stage");
  const marks = svg("svg", { class: "wl-marks", "aria-hidden": "true" });
  picture.element.append(marks);

  /** @param {object} of source, size, description of the image; weights, grid, smooth, colour; box or null */
  function draw({ source, size, description, weights, grid, smooth, colour, box }) {
    const [height, width] = size, [rows, columns] = grid;
    picture.show(source, size, description);
    paint(picture.canvas, weights, grid, smooth, colour, "large");
    set(marks, { viewBox: `0 0 ${width} ${height}` });
    const [x, y] = [width / columns, height / rows];
    const corner = (m) => ({ x: (m % columns) * x, y: Math.floor(m / columns) * y });
    const letter = Math.min(0.29 * Math.min(x, y * 1.6), 0.06 * width);
    const shown = strongest(weights, letter < 0.028 * width ? 1 : NUMBERS, WORTH);
    const framed = (kind, at) => ["wl-halo", kind].map((name) => svg("rect", { class: name, ...at }));
    marks.replaceChildren(
      ...shown.slice(0, 1).flatMap((m) => framed("wl-frame", { ...corner(m), width: x, height: y })),
      ...(box ? framed("wl-box", { x: box[0], y: box[1], width: box[2] - box[0], height: box[3] - box[1] }) : []),
      ...shown.map((m) => svg("text", {
        x: corner(m).x + x / 2, y: corner(m).y + y / 2 + 0.35 * letter, "font-size": Math.max(letter, 0.03 * width),
      }, weights[m].toFixed(2))));
  }
  return { element: picture.element, draw };
}
