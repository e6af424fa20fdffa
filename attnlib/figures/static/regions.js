// Weights over the regions of a grid on an image, counted row by row. Nothing here knows a page.

/** Between the centres of the regions, linearly along both sides; beyond the outermost centres, constant.
 * @param {number[]} weights rows · columns of them @param {[rows: number, columns: number]} grid
 * @param {[height: number, width: number]} size of the answer
 * @returns {Float64Array} (height · width), row by row */
export function bilinear(weights, [rows, columns], [height, width]) {
  const down = neighbours(rows, height), across = neighbours(columns, width);
  const answer = new Float64Array(height * width);
  for (let y = 0; y < height; y++) {
    const { low: top, high: bottom, part: v } = down[y];
    for (let x = 0; x < width; x++) {
      const { low: left, high: right, part: u } = across[x];
      const above = (1 - u) * weights[top * columns + left] + u * weights[top * columns + right];
      const below = (1 - u) * weights[bottom * columns + left] + u * weights[bottom * columns + right];
      answer[y * width + x] = (1 - v) * above + v * below;
    }
  }
  return answer;
}

/** For each of `size` pixels of a side with n regions: the two nearest regions and how far it is to the second. */
function neighbours(n, size) {
  return Array.from({ length: size }, (_, pixel) => {
    const at = Math.max(0, ((pixel + 0.5) * n) / size - 0.5);
    const low = Math.min(n - 1, Math.floor(at));
    return { low, high: Math.min(n - 1, low + 1), part: at - low };
  });
}

/** Every pixel has the weight of its region. Shapes as of `bilinear`. */
export function tiled(weights, [rows, columns], [height, width]) {
  return Float64Array.from({ length: height * width }, (_, n) => {
    const [y, x] = [Math.floor(n / width), n % width];
    return weights[Math.floor((y * rows) / height) * columns + Math.floor((x * columns) / width)];
  });
}

/** The regions with the largest weights, largest first; of equal ones the first; none whose weight is 0.
 * @param {number[]} weights @param {number} count at most so many @param {number} least weight of those after the first
 * @returns {number[]} */
export function strongest(weights, count, least = 0) {
  return weights.map((_, m) => m).filter((m) => weights[m] > 0)
    .sort((a, b) => weights[b] - weights[a] || a - b).slice(0, count)
    .filter((m, n) => n === 0 || weights[m] >= least);
}

/** Which regions have their centre in a box.
 * @param {number[]} box left, top, right, bottom, in pixels; right and bottom are outside
 * @param {[rows: number, columns: number]} grid @param {[height: number, width: number]} size of the image, in pixels
 * @returns {boolean[]} one per region */
export function inBox([left, top, right, bottom], [rows, columns], [height, width]) {
  return Array.from({ length: rows * columns }, (_, m) => {
    const x = ((2 * (m % columns) + 1) * width) / (2 * columns);
    const y = ((2 * Math.floor(m / columns) + 1) * height) / (2 * rows);
    return left <= x && x < right && top <= y && y < bottom;
  });
}

/** "row 2, column 5", counted from 1. */
export function regionName(m, columns) {
  return `row ${Math.floor(m / columns) + 1}, column ${(m % columns) + 1}`;
}
