import { threeDigits } from "./cost_words.js";

// From sizes and costs to places on the paper, and the lines of the paper.

const MARGIN = { left: 10, top: 24, bottom: 32 };
const LETTER = 7; // width of a letter of 13 px, about
const THOUSANDS = ["", " thousand", " million", " billion", " trillion", " quadrillion", " quintillion"];

/** The paper for some curves: what is where.
 * @param {object} of width, height: of the drawing in px; gutter: px to the right of the curves; named:
 *   whether names stand there; last: the end of the
 *   axis; here: the chosen size; log; curve: the cost of every curve at a size, (size) => number[]
 * @returns {object} x, y: a size, a cost -> px; size: px -> a whole size; left, right, top, bottom; begin, end: of the
 *   axis; columns, rows: [place, text] of its lines */
export function paper({ width, height, gutter, named, last, here, log, curve }) {
  const { left, top } = MARGIN;
  const box = { left, right: Math.max(60, width - gutter), top, bottom: height - MARGIN.bottom };
  const end = log ? last : Math.min(last, roundedUp(2 * here));
  const [begin, ends] = [1, curve(end)];
  const positive = [...curve(begin), ...ends].filter((y) => y > 0);
  const low = log ? 10 ** Math.floor(Math.log10(Math.min(...positive, 1e15))) : 0;
  // On linear paper the first curve, and whatever crosses it, should be seen, not only the dearest.
  const high = log
    ? 10 ** Math.ceil(Math.log10(Math.max(...positive, 10 * low)) - 1e-9) : 1.8 * (ends[0] || Math.max(...ends, 1));
  const place = log
    ? (z, from, to) => Math.log(z / from) / Math.log(to / from)
    : (z, from, to) => (z - from) / (to - from);
  const x = (size) => box.left + place(size, begin, end) * (box.right - box.left);
  const y = (value) => box.bottom - place(value, low, high) * (box.bottom - box.top);
  function size(px) {
    const share = Math.min(1, Math.max(0, (px - box.left) / (box.right - box.left)));
    return Math.round(log ? begin * (end / begin) ** share : begin + share * (end - begin));
  }
  const columns = (log ? decades(begin, end, 1) : even(begin, end, 4)).map((z) => [x(z), z.toLocaleString("en-US")]);
  const rows = (log ? decades(low, high, 3) : even(low, high, 4)).map((z) => [y(z), inThousands(z)]);
  return { ...box, width, height, named, begin, end, low, high, log, x, y, size, columns, rows };
}

/** 1, 2 or 5 times a power of ten, or the next above. @param {number} z ≥ 1 @returns {number} at least 8 */
export function roundedUp(z) {
  const power = 10 ** Math.floor(Math.log10(Math.max(8, z)));
  return [1, 2, 5, 10].map((part) => part * power).find((step) => step >= Math.max(8, z));
}

function decades(from, to, by) {
  const lines = [];
  for (let n = Math.ceil(Math.log10(from) - 1e-9); 10 ** n <= to * 1.000001; n += 1) {
    if (n % by === 0) lines.push(10 ** n);
  }
  return lines;
}

function even(from, to, count) {
  const rough = (to - from) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((width) => width >= rough);
  const lines = [];
  for (let n = Math.ceil(from / step); n * step <= to; n += 1) lines.push(n * step);
  return lines;
}

/** A line of the paper, "10 million". */
function inThousands(z) {
  if (z < 1) return z === 0 ? "0" : threeDigits(z);
  const n = Math.min(THOUSANDS.length - 1, Math.floor(Math.log10(z) / 3 + 1e-9));
  return `${Number((z / 1000 ** n).toPrecision(4))}${THOUSANDS[n]}`;
}

/** Places for labels: in the same order, a gap apart, and together as near to their own as can be. Labels that
 * push each other form a block about the mean of what they want.
 * @param {number[]} wanted in px, from top to bottom @param {number} gap
 * @param {number} top @param {number} bottom @returns {number[]} */
export function spread(wanted, gap, top, bottom) {
  const order = wanted.map((_, n) => n).sort((a, b) => wanted[a] - wanted[b] || a - b);
  const blocks = []; // {sum, count}: of wanted places, less a gap for each label above
  order.forEach((n, rank) => {
    let block = { sum: wanted[n] - rank * gap, count: 1 };
    while (blocks.length && blocks.at(-1).sum / blocks.at(-1).count > block.sum / block.count) {
      const above = blocks.pop();
      block = { sum: above.sum + block.sum, count: above.count + block.count };
    }
    blocks.push(block);
  });
  const placed = [];
  const limit = Math.max(top, bottom - (wanted.length - 1) * gap);
  blocks.flatMap(({ sum, count }) => new Array(count).fill(sum / count))
    .forEach((start, rank) => { placed[order[rank]] = Math.min(limit, Math.max(top, start)) + rank * gap; });
  return placed;
}

/** How wide a name is. @param {string} name @returns {number} px, about */
export function nameWidth(name) {
  return LETTER * [...name].length;
}
