// Attention weights as alignments.py packs them, and what they say of gold links. Nothing here knows of a page.

const UNIT = 60000; // weights come in steps of 1/UNIT, 16 bits each

/** Weights, all of a model or those of one map.
 * @param {{shape: number[], data: string}} packed shape of any length; base64 of little-endian 16-bit numbers
 * @returns {Float64Array} as many as the shape says, in 0..1 */
export function unpacked({ shape, data }) {
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const size = shape.reduce((product, n) => product * n, 1);
  if (bytes.length !== 2 * size) throw new Error(`${bytes.length} bytes cannot be ${shape.join(" × ")} weights`);
  return Float64Array.from({ length: size }, (_, n) => view.getUint16(2 * n, true) / UNIT);
}

/** One head of a layer, or the mean of its heads.
 * @param {Float64Array} all of `unpacked` @param {number[]} shape (layers, heads, T, S)
 * @param {number} layer @param {number | "mean"} head
 * @returns {number[][]} (T, S) */
export function mapOf(all, [, H, T, S], layer, head) {
  const heads = head === "mean" ? Array.from({ length: H }, (_, h) => h) : [head];
  return Array.from({ length: T }, (_, i) => Array.from({ length: S }, (_, j) =>
    heads.reduce((sum, h) => sum + all[((layer * H + h) * T + i) * S + j], 0) / heads.length));
}

/** Σ_j α_j @param {number[]} row (S) */
export function total(row) {
  return row.reduce((sum, weight) => sum + weight, 0);
}

/** The place with the largest weight, the first of equals; -1 where all are 0. @param {number[]} row (S) */
export function most(row) {
  const largest = Math.max(...row);
  return largest > 0 ? row.indexOf(largest) : -1;
}

/** How much of the weight lies on gold links, over the rows that have one.
 * @param {number[][]} weights (T, S) @param {number[][]} gold pairs [i, j]
 * @returns {?{share: number, hits: number, rows: number}} share of the weight in 0..1, rows that look most at a gold
 *   link, rows that have one; null without a link */
export function onGold(weights, gold) {
  if (gold.length === 0) return null;
  const rows = [...new Set(gold.map(([i]) => i))];
  const all = rows.reduce((sum, i) => sum + total(weights[i]), 0);
  const right = gold.reduce((sum, [i, j]) => sum + weights[i][j], 0);
  const hits = rows.filter((i) => gold.some(([row, j]) => row === i && j === most(weights[i]))).length;
  return { share: all > 0 ? right / all : 0, hits, rows: rows.length };
}
