import { affine, encode, gruStep, joined, likeliest, logSoftmax, rowOf } from "./network.js";

// attnlib's LuongDecoder with the score "general", one sentence and one step at a time, and attnlib's beam search with
// it. In any step weights from outside may take the place of α.

/** What every vocabulary of attnlib begins and ends a target with; no id below the end is ever written. */
export const BEGIN = 1;
export const END = 2;

const MEAN = 1; // the length penalty: about the mean log-probability of a piece

/** All that is computed once for a source.
 * @param {object} weights by name, as of `tensors()` @param {number[]} ids at least one
 * @returns {{annotations: Float64Array[], keys: Float64Array[], state: Float64Array}} (S, d_annotation), the keys
 *   after W (S, d), s_0 (d) */
export function readSource(weights, ids) {
  const { annotations, summary } = encode(weights, ids);
  return {
    annotations,
    keys: annotations.map((h) => affine(weights["decoder.attention.score.W.weight"], null, h)),
    state: affine(weights["decoder.W_s.weight"], weights["decoder.W_s.bias"], summary).map(Math.tanh),
  };
}

/** One step: step on, look (or be told where), say.
 * @param {object} source of `readSource` @param {Float64Array} before s_{i-1} @param {number} token y_{i-1}
 * @param {?number[]} painted (S) in place of α
 * @returns {{state: Float64Array, own: Float64Array, weights: Float64Array, logits: Float64Array, log: Float64Array}}
 *   s_i, the model's own α and the one that counts (S), logits and log P (V) */
export function luongStep(weights, source, before, token, painted = null) {
  const rnn = (name) => weights[`decoder.rnn.${name}_l0`];
  const fed = affine(rnn("weight_ih"), rnn("bias_ih"), rowOf(weights["decoder.embedding.weight"], token));
  const state = gruStep(fed, before, rnn("weight_hh"), rnn("bias_hh"));
  const own = logSoftmax(Float64Array.from(source.keys, (key) => product(state, key))).map(Math.exp);
  const alpha = painted ? Float64Array.from(painted) : own;
  const context = new Float64Array(source.annotations[0].length);
  source.annotations.forEach((h, j) => { for (let n = 0; n < h.length; n++) context[n] += alpha[j] * h[n]; });
  const output = affine(weights["decoder.W_c.weight"], null, joined(context, state)).map(Math.tanh);
  const logits = affine(weights["decoder.W_o.weight"], weights["decoder.W_o.bias"], output);
  const log = logSoftmax(logits).fill(-Infinity, 0, END); // after the softmax, as attnlib.search has it
  return { state, own, weights: alpha, logits, log };
}

/** a · b */
function product(a, b) {
  let sum = 0;
  for (let n = 0; n < a.length; n++) sum += a[n] * b[n];
  return sum;
}

/** The best targets, as `attnlib.search.beam_search` with length_penalty=1; one beam is greedy.
 * @param {object} weights @param {object} source of `readSource`
 * @param {{size: number, maxLength: number, edits: Object<number, number[]>}} how beams; tokens a target may have, its
 *   end included; step -> (S) in place of α, in every beam
 * @returns {{steps: object[], log: number, score: number}[]} best first: what `luongStep` returned, with `token` */
export function searchTargets(weights, source, { size, maxLength, edits = {} }) {
  let beams = [{ steps: [], log: 0, score: 0 }];
  for (let i = 0; i < maxLength && !beams.every(ended); i++) {
    const found = beams.flatMap((beam) => {
      if (ended(beam)) return [beam];
      const { token, state } = beam.steps.at(-1) ?? { token: BEGIN, state: source.state };
      const said = luongStep(weights, source, state, token, edits[i] ?? null);
      return likeliest(said.log, size).map((next) => {
        const log = beam.log + said.log[next];
        return { steps: [...beam.steps, { token: next, ...said }], log, score: log / ((5 + i + 1) / 6) ** MEAN };
      });
    });
    beams = found.filter(({ log }) => log > -Infinity).sort((a, b) => b.score - a.score).slice(0, size);
  }
  return beams;
}

const ended = ({ steps }) => steps.at(-1)?.token === END;
