import { fixed } from "../../../figures/static/dom.js";
import { VERSIONS } from "./masked_versions.js";

// What happened in a row, in words.

/** What stands where a sentence has ended. */
export const PAD = "‹pad›";

/** A number of any size in few letters: 0.31, −200, 10002.3, −1e9, 4.5e−5, ∞, NaN. @param {number} x */
export function short(x) {
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x < 0 ? "−∞" : "∞";
  const size = Math.abs(x);
  if (size === 0) return "0";
  if (size < 0.005 || size >= 1e6) return x.toExponential(1).replace(/\.0e/, "e").replace("e+", "e").replace(/-/g, "−");
  return fixed(x, size < 100 ? 2 : 1).replace(/\.0$/, "");
}

/** A number that somebody chose: −200, 10000, 0.5, −1e9. @param {number} x */
export function plain(x) {
  return Math.abs(x) < 1e6 ? String(x).replace("-", "−") : short(x);
}

/** @returns {string} "ok", "NaN", "leaks 0.33", … */
export function verdictText({ word, amount }) {
  return amount === null ? word : `${word} ${fixed(amount)}`;
}

/** Why, in one or two sentences. @param {object} row of computed() @param {object} how fill, precision, shift, meant:
 *   number[] the scores before they were stored */
export function story(row, { fill, precision, shift, meant }) {
  const filled = VERSIONS[fill].filled;
  const blank = !row.mask.some(Boolean);
  const tooLarge = row.e.findIndex((x, j) => row.mask[j] && !Number.isFinite(x));
  const before = tooLarge >= 0
    ? `${precision} cannot hold ${short(meant[tooLarge])} and stores ${short(row.e[tooLarge])}. `
    : Number.isFinite(filled) && row.into.some((x, j) => !row.mask[j] && !Number.isFinite(x))
      ? `${precision} cannot hold ${fill.replace("-", "−")}: the fill became −∞. ` : "";
  const merged = new Set(meant.filter((_, j) => row.mask[j])).size - new Set(row.e.filter((_, j) => row.mask[j])).size;
  const after = merged > 0 && !before ? ` (Stored in ${precision}, different scores became equal.)` : "";
  return before + WHY[row.verdict.word](row, { blank, filled, shifts: shift || VERSIONS[fill].shifts, fill, precision }) + after;
}

const WHY = {
  ok: (row, { blank }) => (blank ? "Nothing is visible, and every weight is 0."
    : "The weights are right: the visible share 1, and padding gets 0."),
  NaN: (row, { shifts, precision }) => {
    if (shifts && row.largest === -Infinity) return "Every score is −∞, and −∞ − (−∞) is NaN.";
    if (shifts && row.largest === Infinity) return "∞ − ∞ is NaN.";
    const j = row.exp.indexOf(Infinity);
    if (j >= 0) return `exp(${short(row.shifted[j])}) is ∞ in ${precision}, and ∞ / ∞ is NaN.`;
    if (row.total === Infinity) return `The sum is ∞ in ${precision}.`;
    if (row.total === 0) return `Every exp is 0 in ${precision}, and 0 / 0 is NaN.`;
    if (row.kept === 0) return "The hidden took all of the softmax; behind the mask 0 / 0 is left, which is NaN.";
    return "A NaN went in.";
  },
  leaks: (row, { blank, filled, fill, precision }) => {
    const on = `${fixed(row.verdict.amount)} of the attention is on padding`;
    if (blank) return `Nothing is visible, all scores are equally bad, and ${on}.`;
    return filled === undefined ? `${on}.` : `${on}: to ${precision}, ${fill.replace("-", "−")} is not far below these scores.`;
  },
  zeros: (row, { precision }) => {
    if (row.total === Infinity) return `The sum is ∞ in ${precision}, and every weight is 0.`;
    return row.softmax.some((p, j) => p > 0 && !row.mask[j])
      ? "Every weight is 0: the hidden places took all of the softmax." : "Every weight is 0, although something is visible.";
  },
  sum: (row) => `The weights sum to ${fixed(row.verdict.amount)}: the hidden places took part in the softmax, and their share is lost.`,
  wrong: () => "The weights look like weights, and they are wrong.",
};
