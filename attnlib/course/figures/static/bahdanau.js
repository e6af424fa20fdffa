import { affine, argmax, encode, gruStep, joined, logSoftmax, rowOf, weightedSum } from "./network.js";

// attnlib's BahdanauDecoder, one sentence and one step at a time, and greedy decoding with it. In any step weights
// from outside may take the place of α; everything after that step then follows from them.

export const bahdanau = { begin: beginWriting, step: writeStep };

/** What the decoder may look at in every step, and its first state s_0 = tanh(W_s summary).
 * @param {object} weights of `tensors()` @param {number[]} ids of the source
 * @returns {{annotations: Float64Array[], projected: Float64Array[], state: Float64Array}} (S, d_annotation), the keys
 *   after U_a (S, d_score), (d_hidden) */
export function beginWriting(weights, ids) {
  const { annotations, summary } = encode(weights, ids);
  return {
    annotations,
    projected: annotations.map((h) => affine(weights["decoder.attention.score.U_a.weight"], null, h)),
    state: affine(weights["decoder.W_s.weight"], weights["decoder.W_s.bias"], summary).map(Math.tanh),
  };
}

/** α of a state: softmax over j of v_a · tanh(W_a s + U_a h_j). @returns {Float64Array} (S) */
function additiveWeights(weights, state, projected) {
  const asked = affine(weights["decoder.attention.score.W_a.weight"], null, state);
  const { data: v } = weights["decoder.attention.score.v_a.weight"];
  const scores = projected.map((key) => {
    let score = 0;
    for (let n = 0; n < v.length; n++) score += v[n] * Math.tanh(asked[n] + key[n]);
    return score;
  });
  return logSoftmax(Float64Array.from(scores)).map(Math.exp);
}

/** One step: look (or be told where), step on, say.
 * @param {object} memory of `beginWriting` @param {Float64Array} state s_{i-1} @param {number} token y_{i-1}
 * @param {?number[]} painted (S) in place of α
 * @returns {{state: Float64Array, own: Float64Array, weights: Float64Array, logits: Float64Array}} s_i, the model's own
 *   α and the one that counts (S), (V) */
function writeStep(weights, memory, state, token, painted = null) {
  const own = additiveWeights(weights, state, memory.projected);
  const alpha = painted ? Float64Array.from(painted) : own;
  const context = weightedSum(memory.annotations, alpha, weights["decoder.C_o.weight"].columns);
  const embedded = rowOf(weights["decoder.embedding.weight"], token);
  const cell = (name) => weights[`decoder.cell.${name}`];
  const input = affine(cell("weight_ih"), cell("bias_ih"), joined(embedded, context));
  const next = gruStep(input, state, cell("weight_hh"), cell("bias_hh"));
  const parts = [affine(weights["decoder.U_o.weight"], weights["decoder.U_o.bias"], next),
    affine(weights["decoder.V_o.weight"], null, embedded), affine(weights["decoder.C_o.weight"], null, context)];
  const pair = (n) => parts[0][n] + parts[1][n] + parts[2][n];
  const maxout = Float64Array.from({ length: parts[0].length / 2 }, (_, n) => Math.max(pair(2 * n), pair(2 * n + 1)));
  const logits = affine(weights["decoder.W_o.weight"], weights["decoder.W_o.bias"], maxout);
  return { state: next, own, weights: alpha, logits };
}

/** The likeliest token at every step, as attnlib.search.greedy_decode.
 * @param {object} memory of `beginWriting`
 * @param {{begin: number, end: number, maxLength: number, edits: Object<number, number[]>, written: object[]}} how ids
 *   of the two marks; tokens a target may have, the end included; step -> (S) in place of α; the steps that are known
 *   already, of an earlier call with the same edits up to there
 * @returns {object[]} what `writeStep` returned, with `token`, one per step */
export function write(weights, memory, { begin, end, maxLength, edits = {}, written = [] }) {
  const steps = [...written];
  while (steps.length < maxLength && steps.at(-1)?.token !== end) {
    const { token, state } = steps.at(-1) ?? { token: begin, state: memory.state };
    const said = writeStep(weights, memory, state, token, edits[steps.length] ?? null);
    steps.push({ token: argmax(said.logits), ...said });
  }
  return steps;
}
