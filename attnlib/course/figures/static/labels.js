// Where to write the names of points that move: beside the point, clear of the others as far as possible.

const HEIGHT = 16;
const LETTER = 8.5; // width, about
// Sides of a point in order of preference: offset of the text and its anchor.
const SIDES = [
  [11, -8, "start"], [11, 19, "start"], [-11, -8, "end"], [-11, 19, "end"], [0, -15, "middle"], [0, 27, "middle"],
];

/** @param {{x: number, y: number, text: string}[]} points in drawing units, the most important first
 * @param {number} size of the drawing
 * @returns {{x: number, y: number, "text-anchor": string}[]} offsets from the points */
export function sides(points, size) {
  const dots = points.map(({ x, y }) => box(x - 8, y - 8, 16, 16));
  const written = [];
  return points.map((point, n) => {
    const others = dots.filter((_, m) => m !== n);
    const cost = SIDES.map((side, rank) => {
      const area = textBox(point, side);
      return 2 * rank + overlaps(area, others) + 2 * overlaps(area, written) + 4 * outside(area, size);
    });
    const best = SIDES[cost.indexOf(Math.min(...cost))];
    written.push(textBox(point, best));
    return { x: best[0], y: best[1], "text-anchor": best[2] };
  });
}

const box = (left, top, width, height) => ({ left, top, right: left + width, bottom: top + height });

function textBox({ x, y, text }, [dx, dy, anchor]) {
  const width = LETTER * text.length;
  const shift = { start: 0, middle: width / 2, end: width }[anchor];
  return box(x + dx - shift, y + dy - HEIGHT + 3, width, HEIGHT);
}

function overlaps(area, boxes) {
  return boxes.reduce((sum, other) => {
    const width = Math.min(area.right, other.right) - Math.max(area.left, other.left);
    const height = Math.min(area.bottom, other.bottom) - Math.max(area.top, other.top);
    return sum + (width > 0 && height > 0 ? width * height : 0);
  }, 0);
}

function outside(area, size) {
  const inside = overlaps(area, [box(0, 0, size, size)]);
  return (area.right - area.left) * (area.bottom - area.top) - inside;
}
