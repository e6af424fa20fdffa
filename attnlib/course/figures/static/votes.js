// What a model answers with one weight and one vote for each word, and with which other weights it answers the same.
// Pure functions, no page; tests hold them equal to attnlib.course.explanations.

const NOTHING = 1e-12; // 0 log 0 = 0
const EQUAL = 1e-6; // two rows of weights are the same

/** The model's answer: z = Σ_j α_j z_j, and p = σ(z), the probability of the second of its two answers.
 * @param {number[]} weights (S) @param {number[]} votes (S) @returns {{z: number, p: number}} */
export function answerOf(weights, votes) {
  const z = weights.reduce((sum, weight, j) => sum + weight * votes[j], 0);
  return { z, p: 1 / (1 + Math.exp(-z)) };
}

/** Jensen–Shannon divergence of two distributions, in nats: from 0 to log 2.
 * @param {number[]} a (S) @param {number[]} b (S) @returns {number} */
export function divergence(a, b) {
  let sum = 0;
  a.forEach((_, j) => {
    const x = Math.max(a[j], NOTHING), y = Math.max(b[j], NOTHING), m = (x + y) / 2;
    sum += x * Math.log(x / m) + y * Math.log(y / m);
  });
  return Math.max(0, sum / 2);
}

/** Between which log-odds p stays within so much of σ(z). Infinite where p may come to 0 or 1.
 * @param {number} p @param {number} within @returns {[low: number, high: number]} */
export function boundsOf(p, within) {
  const logit = (x) => Math.log(x / (1 - x));
  return [logit(Math.max(0, p - within)), logit(Math.min(1, p + within))];
}

/** Of all weights α' with low ≤ Σ α'_j z_j ≤ high, those that diverge most from α. The divergence is convex, so they
 * are a corner of what is allowed, which stands on one word or on two: all are tried.
 * @param {number[]} own α, (S) @param {number[]} votes z_j, (S) @param {[number, number]} bounds @returns {number[]} (S) */
export function farthestWeights(own, votes, [low, high]) {
  const S = own.length;
  let best = own, most = 0;
  function attempt(j, k, share) {
    const row = new Array(S).fill(0);
    row[k] = 1 - share;
    row[j] += share;
    const far = divergence(own, row);
    if (far > most + NOTHING) [best, most] = [row, far];
  }
  votes.forEach((vote, j) => { if (vote >= low && vote <= high) attempt(j, j, 1); });
  for (const bound of [low, high]) {
    for (let j = 0; j < S; j++) {
      for (let k = j + 1; k < S; k++) {
        const share = (bound - votes[k]) / (votes[j] - votes[k]); // of j; no number where the votes are equal
        if (share >= 0 && share <= 1) attempt(j, k, share);
      }
    }
  }
  return best;
}

/** The same weights on other words: Fisher–Yates, with numbers that follow from a seed (mulberry32).
 * @param {number[]} weights (S) @param {number} seed whole @returns {number[]} (S) */
export function shuffled(weights, seed) {
  let state = seed >>> 0;
  function random() {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  const row = [...weights];
  for (let j = row.length - 1; j > 0; j--) {
    const k = Math.floor(random() * (j + 1));
    [row[j], row[k]] = [row[k], row[j]];
  }
  return row;
}

/** @param {number} S @returns {number[]} (S), all equal */
export function evenly(S) {
  return new Array(S).fill(1 / S);
}

/** Whether two rows are the same weights on the same words. @param {number[]} a @param {number[]} b */
export function alike(a, b) {
  return a.every((x, j) => Math.abs(x - b[j]) < EQUAL);
}

/** Whether one row is the other on words in another order. @param {number[]} a @param {number[]} b */
export function permuted(a, b) {
  const sorted = (row) => [...row].sort((x, y) => x - y);
  return !alike(a, b) && alike(sorted(a), sorted(b));
}

/** What has become of the answer: "same" while p is within reach of the model's own, else "near" on the same side of
 * 1/2, "other" beyond it. @param {number} p @param {number} before @param {number} within */
export function judged(p, before, within) {
  if (Math.abs(p - before) <= within + EQUAL) return "same";
  return (p > 0.5) === (before > 0.5) ? "near" : "other";
}

/** The answer in a word. @param {number} z log-odds of the second @param {string[]} answers */
export function saidAt(z, answers) {
  return z === 0 ? "neither" : answers[z > 0 ? 1 : 0];
}
