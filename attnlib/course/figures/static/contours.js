// Lines of equal height of a function on the square [-extent, extent]², like those of a map.

/** @param {(point: number[]) => number} height
 * @param {number} extent @param {number} cells per side @param {number} about how many lines are wanted
 * @returns {{level: number, segments: number[][][]}[]} segments: pairs of points */
export function contours(height, extent, cells = 36, about = 11) {
  const at = Array.from({ length: cells + 1 }, (_, i) => extent * ((2 * i) / cells - 1));
  const grid = at.map((y) => at.map((x) => [x, y, height([x, y])]));
  const heights = grid.flat().map((corner) => corner[2]);
  const lines = levels(Math.min(...heights), Math.max(...heights), about).map((level) => ({ level, segments: [] }));
  for (let i = 0; i < cells; i++) {
    for (let j = 0; j < cells; j++) {
      const [a, b, c, d] = [grid[i][j], grid[i][j + 1], grid[i + 1][j], grid[i + 1][j + 1]];
      // A triangle, unlike a square, is crossed in exactly one way.
      for (const triangle of [[a, b, c], [b, c, d]]) {
        const [low, high] = [Math.min(...triangle.map((p) => p[2])), Math.max(...triangle.map((p) => p[2]))];
        for (const { level, segments } of lines) {
          if (level < low || level > high) continue;
          const points = crossings(triangle, level);
          if (points.length === 2) segments.push(points);
        }
      }
    }
  }
  return lines;
}

/** Round numbers between low and high, 0 among them; none where the function is flat. */
function levels(low, high, about) {
  if (high - low < 1e-9) return [];
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const count = Math.floor(high / step) - Math.ceil(low / step) + 1;
  return Array.from({ length: count }, (_, n) => (Math.ceil(low / step) + n) * step);
}

/** Where the three edges of a triangle of [x, y, height] pass a level. */
function crossings(triangle, level) {
  const found = [];
  for (let n = 0; n < 3; n++) {
    const [from, to] = [triangle[n], triangle[(n + 1) % 3]];
    if (from[2] < level === to[2] < level) continue;
    const share = (level - from[2]) / (to[2] - from[2]);
    found.push([from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]);
  }
  return found;
}
