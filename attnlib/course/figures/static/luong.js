import { affine, encode, gruStep, joined, logSoftmax, product, rowOf, weightedSum } from "./network.js";

// attnlib's LuongDecoder with the score "general", one sentence and one step at a time. In any step weights from outside
// may take the place of α.

export const luong = { begin: readSource, step: luongStep };

/** All that is computed once for a source.
 * @param {object} weights by name, as of `tensors()` @param {number[]} ids of the source
 * @param {string} prefix of the decoder's names
 * @returns {{annotations: Float64Array[], keys: Float64Array[], state: Float64Array}} (S, d_annotation), the keys
 *   after W (S, d), s_0 (d) */
function readSource(weights, ids, prefix = "decoder.") {
  const { annotations, summary } = encode(weights, ids);
  const named = (name) => weights[prefix + name];
  return {
    annotations,
    keys: annotations.map((h) => affine(named("attention.score.W.weight"), null, h)),
    state: affine(named("W_s.weight"), named("W_s.bias"), summary).map(Math.tanh),
  };
}

/** One step: step on, look (or be told where), say.
 * @param {object} source of `readSource` @param {Float64Array} before s_{i-1} @param {number} token y_{i-1}
 * @param {?number[]} painted (S) in place of α @param {string} prefix of the decoder's names
 * @returns {{state: Float64Array, own: Float64Array, weights: Float64Array, context: Float64Array,
 *   logits: Float64Array}} s_i, the model's own α and the one that counts (S), c_i (d_annotation), (V) */
function luongStep(weights, source, before, token, painted = null, prefix = "decoder.") {
  const named = (name) => weights[prefix + name];
  const fed = affine(named("rnn.weight_ih_l0"), named("rnn.bias_ih_l0"), rowOf(named("embedding.weight"), token));
  const state = gruStep(fed, before, named("rnn.weight_hh_l0"), named("rnn.bias_hh_l0"));
  const own = logSoftmax(Float64Array.from(source.keys, (key) => product(state, key))).map(Math.exp);
  const alpha = painted ? Float64Array.from(painted) : own;
  const context = weightedSum(source.annotations, alpha, named("attention.score.W.weight").columns);
  const output = affine(named("W_c.weight"), null, joined(context, state)).map(Math.tanh);
  return { state, own, weights: alpha, context, logits: affine(named("W_o.weight"), named("W_o.bias"), output) };
}
