// The arithmetic of attnlib.scores and attnlib.attention for one query, in plain JavaScript.
// tests/course/figures/test_score_explorer.py runs this text and holds it equal to attnlib. Nothing here knows of a page.

/** Σ_i a_i b_i
 * @param {number[]} a (d) @param {number[]} b (d) @returns {number} */
export function dot(a, b) {
  return a.reduce((sum, x, i) => sum + x * b[i], 0);
}

/** W x, with W laid out like the weight of torch's nn.Linear
 * @param {number[][]} W (d_out, d_in) @param {number[]} x (d_in) @returns {number[]} (d_out) */
export function linear(W, x) {
  return W.map((row) => dot(row, x));
}

/** Wᵀ y
 * @param {number[][]} W (d_out, d_in) @param {number[]} y (d_out) @returns {number[]} (d_in) */
export function transposed(W, y) {
  return W[0].map((_, i) => dot(W.map((row) => row[i]), y));
}

/** x / ‖x‖; a zero vector has no direction and stays zero
 * @param {number[]} x (d) @returns {number[]} (d) */
export function unit(x) {
  const length = Math.max(Math.sqrt(dot(x, x)), 1e-12);
  return x.map((xi) => xi / length);
}

/** Every score of attnlib under its registry name.
 *  compare(q, k, parameters, j) -> e_j, the score of key k at position j (counted from 0)
 *  seen(q, parameters) -> the vector whose dot product with k is the score, where it is not q itself
 *  placeless: does not read k
 *  alias: another name; formula; note: what to look for in the figure ("_x" is a subscript) */
export const SCORES = {
  dot: {
    alias: "",
    formula: "e = q · k",
    note: "Grows with the length of q and of k, and with how well they agree.",
    compare: (q, k) => dot(q, k),
  },
  scaled_dot: {
    alias: "",
    formula: "e = q · k / √d",
    note: "The dot product divided by √2 here: the same order of the words, a softer choice between them.",
    compare: (q, k) => dot(q, k) / Math.sqrt(k.length),
  },
  general: {
    alias: " (bilinear)",
    formula: "e = qᵀ W k",
    note: "W turns and stretches q before it meets the keys: the dashed arrow is Wᵀq.",
    compare: (q, k, { W }) => dot(q, linear(W, k)),
    seen: (q, { W }) => transposed(W, q),
  },
  projected_dot: {
    alias: "",
    formula: "e = (W_q q) · (W_k k)",
    note: "Query and key meet in a third space; the dashed arrow is what the keys see of q.",
    compare: (q, k, { W_q, W_k }) => dot(linear(W_q, q), linear(W_k, k)),
    seen: (q, { W_q, W_k }) => transposed(W_k, linear(W_q, q)),
  },
  additive: {
    alias: " (Bahdanau)",
    formula: "e = v_aᵀ tanh(W_a q + U_a k)",
    note: "A small network. Its tanh saturates: far out, moving a key further changes next to nothing.",
    compare: (q, k, { W_a, U_a, v_a }) => {
      const fromKey = linear(U_a, k);
      const hidden = linear(W_a, q).map((x, i) => Math.tanh(x + fromKey[i]));
      return linear(v_a, hidden)[0];
    },
  },
  concat: {
    alias: "",
    formula: "e = w_2ᵀ tanh(W_1 [q; k])",
    note: "The additive network as first drawn, with weights of its own; with W_1 = [W_a U_a] it is additive.",
    compare: (q, k, { W_1, w_2 }) => linear(w_2, linear(W_1, [...q, ...k]).map(Math.tanh))[0],
  },
  cosine: {
    alias: " (content-based)",
    formula: "e = β cos(q, k)",
    note: "Only the angle counts: move q or a key straight away from the centre and nothing changes.",
    compare: (q, k, { sharpness }) => sharpness * dot(unit(q), unit(k)),
  },
  location: {
    alias: "",
    formula: "e_j = (W_a q)_j",
    note: "The query alone chooses the position: move a word and no score changes.",
    compare: (q, k, { W_a }, j) => dot(W_a[j], q),
    placeless: true,
  },
  zero: {
    alias: " (mean pooling)",
    formula: "e = 0",
    note: "No preference: every visible word has the same weight, and c is their plain mean.",
    compare: () => 0,
    placeless: true,
  },
};

/** Softmax over the visible positions; where nothing is visible every weight is 0.
 * @param {number[]} scores (S) @param {boolean[]} mask (S), true = may attend @returns {number[]} (S) */
export function maskedSoftmax(scores, mask) {
  const largest = Math.max(...scores.filter((_, j) => mask[j])); // shift: exp never overflows
  const powers = scores.map((score, j) => (mask[j] ? Math.exp(score - largest) : 0));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => (total > 0 ? power / total : 0));
}

/** Scores, weights and context of one query.
 * @param {string} name of a score
 * @param {number[]} query (d) @param {number[][]} keys (S, d) @param {number[][]} values (S, d_value)
 * @param {object} parameters of that score @param {number} temperature > 0 @param {number} validLength 0..S
 * @returns {{scores: number[], weights: number[], context: number[]}} (S), (S), (d_value) */
export function attend({ name, query, keys, values, parameters, temperature, validLength }) {
  const scores = keys.map((key, j) => SCORES[name].compare(query, key, parameters, j));
  const mask = keys.map((_, j) => j < validLength);
  const weights = maskedSoftmax(scores.map((score) => score / temperature), mask);
  const context = transposed(values, weights); // Σ_j α_j v_j
  return { scores, weights, context };
}
