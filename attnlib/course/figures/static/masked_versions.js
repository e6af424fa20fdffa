import { PRECISIONS } from "./precision.js";

// Ways to write a masked softmax, most of them wrong, computed step by step in a chosen precision.
// tests/course/figures/test_masked_softmax_lab.py holds every step equal to the same expressions in torch.

const fillWith = (number) => (e, mask, round) => e.map((x, j) => (mask[j] ? x : round(number)));
const asIs = (e) => e;

/** Versions by name.
 *  label: what the menu says
 *  into(e, mask, round): what goes into the softmax
 *  keep(p, visible): what of a weight p stays after the softmax; without it, all
 *  share: added to the sum through which weights are shared out again; without it, they are not */
export const VERSIONS = {
  "-1e9": { label: "fill with −1e9", filled: -1e9, into: fillWith(-1e9) },
  "-1e4": { label: "fill with −1e4", filled: -1e4, into: fillWith(-1e4) },
  "-inf": { label: "fill with −∞", filled: -Infinity, into: fillWith(-Infinity) },
  after: { label: "multiply after", into: asIs, keep: (p, m) => p * m },
  "after, shared": { label: "multiply after, share again", into: asIs, keep: (p, m) => p * m, share: 0 },
  "both, shared": {
    label: "multiply before and after, share again", into: (e, mask) => e.map((x, j) => x * mask[j]),
    keep: (p, m) => p * m, share: 1e-13,
  },
  ours: {
    label: "attnlib",
    // a row in which nothing is visible goes through as zeros, and is emptied behind
    into: (e, mask) => e.map((x, j) => (mask[j] ? x : mask.some(Boolean) ? -Infinity : 0)),
    keep: (p, m) => (m ? p : 0), shifts: true,
  },
};

/** The raw scores of one row, as they are stored.
 * @param {number[]} scores (S) @returns {number[]} (S) */
export function stored(scores, scale, offset, precision) {
  return scores.map((score) => PRECISIONS[precision].round(score * scale + offset));
}

/** One row, step by step; every step is rounded to the precision.
 * @param {number[]} e (S) stored scores @param {boolean[]} mask (S), true = may attend
 * @param {string} fill a name of VERSIONS @param {string} precision @param {boolean} shift subtract the largest first
 * @returns {{into: number[], largest: number, shifted: number[], exp: number[], total: number, softmax: number[],
 *   kept: number, weights: number[]}} largest is 0 where nothing is subtracted; kept is the sum after the mask */
export function steps({ e, mask, fill, precision, shift }) {
  const { round, add } = PRECISIONS[precision], version = VERSIONS[fill];
  const sum = (numbers) => round(numbers.reduce(add, 0));
  const into = version.into(e, mask, round);
  const largest = shift || version.shifts ? Math.max(...into) : 0;
  const shifted = into.map((x) => round(x - largest));
  const exp = shifted.map((x) => round(Math.exp(x)));
  const total = sum(exp);
  const softmax = exp.map((x) => round(x / total));
  const left = version.keep ? softmax.map((p, j) => version.keep(p, Number(mask[j]))) : softmax;
  const kept = sum(left);
  const divisor = round(kept + version.share);
  const weights = version.share === undefined ? left : left.map((p) => round(p / divisor));
  return { into, largest, shifted, exp, total, softmax, kept, weights };
}

/** What the weights should be, for the scores as they are stored: float64, and only the visible are read.
 * @param {number[]} e (S) @param {boolean[]} mask (S) @returns {number[]} (S) */
export function rightWeights(e, mask) {
  const largest = Math.max(...e.filter((_, j) => mask[j]));
  const powers = e.map((x, j) => (mask[j] ? Math.exp(x - largest) : 0));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power, j) => (mask[j] ? power / total : 0));
}

/** A verdict on one row, in a word, and what it is about.
 * @param {number[]} weights (S) @param {number[]} right (S) @param {boolean[]} mask (S)
 * @returns {{word: "ok"|"NaN"|"leaks"|"zeros"|"sum"|"wrong", amount: number|null}} */
export function verdict({ weights, right, mask, fill, precision }) {
  const tolerance = Math.max(0.01, 4 * PRECISIONS[precision].epsilon);
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const leak = sum(weights.filter((_, j) => !mask[j])), total = sum(weights);
  if (weights.some(Number.isNaN)) return { word: "NaN", amount: null };
  if (leak > tolerance) return { word: "leaks", amount: leak };
  if (Math.abs(total - sum(right)) > tolerance) return total === 0 ? { word: "zeros", amount: null } : { word: "sum", amount: total };
  return { word: weights.every((weight, j) => Math.abs(weight - right[j]) <= tolerance) ? "ok" : "wrong", amount: null };
}

/** Everything the figure shows of one row. */
export function computed({ scores, length, scale, offset, fill, precision, shift }) {
  const e = stored(scores, scale, offset, precision);
  const mask = e.map((_, j) => j < length);
  const right = rightWeights(e, mask);
  const run = steps({ e, mask, fill, precision, shift });
  return { ...run, e, mask, right, verdict: verdict({ weights: run.weights, right, mask, fill, precision }) };
}
