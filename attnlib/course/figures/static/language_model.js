import { affine, logSoftmax, product, rowOf, tensors, weightedSum } from "./network.js";
import { readable } from "./surgery_state.js";

// attnlib's RNNLM, and its AttentionLM with the scaled dot product, one text at a time and in float64.

/** A trained language model. It looks back if the weights have a W_c.
 * @param {object} weights of `tensors()`, with the names of RNNLM or AttentionLM
 * @returns {{read: Function, look: Function, say: Function}} */
export function languageModel(weights) {
  const d = weights["W_h.weight"].rows;
  const fed = new Map(); // token -> W_e x + b_1: a text has the same token more than once

  function input(token) {
    if (!fed.has(token)) {
      const x = rowOf(weights["embedding.weight"], token);
      fed.set(token, affine(weights["W_e.weight"], weights["W_e.bias"], x));
    }
    return fed.get(token);
  }

  /** The states after each of some tokens. @param {number[]} ids @param {Float64Array} [state] before the first
   * @returns {Float64Array[]} h_1 … h_T, each (d) */
  function read(ids, state = new Float64Array(d)) {
    return ids.map((id) => {
      const x = input(id);
      state = affine(weights["W_h.weight"], null, state).map((h, i) => Math.tanh(h + x[i]));
      return state;
    });
  }

  /** Where the state at place t looks among those before it, and what it finds there.
   * @param {Float64Array[]} states @param {number} t
   * @returns {{weights: Float64Array, context: Float64Array}} α_tj for j < t, c_t (d): nothing and zeros at the first */
  function look(states, t) {
    const seen = states.slice(0, t);
    const scores = Float64Array.from(seen, (key) => product(states[t], key) / Math.sqrt(d));
    const alpha = logSoftmax(scores).map(Math.exp);
    return { weights: alpha, context: weightedSum(seen, alpha, d) };
  }

  /** What comes next. @param {Float64Array} [state] h_t, h_0 where nothing was read
   * @param {?Float64Array} [context] c_t, of a model that looks back @returns {Float64Array} logits (V) */
  function say(state = new Float64Array(d), context = null) {
    const logits = affine(weights["W_2.weight"], weights["W_2.bias"], state);
    if (!context) return logits;
    const more = affine(weights["W_c.weight"], null, context);
    return logits.map((logit, n) => logit + more[n]);
  }
  return { read, look, say };
}

/** The language model of a figure, and what it reads of the figure's text.
 * @param {object} figure its state: weights, vocabulary, text and longest
 * @returns {{network: object, known: Map<string, number>, read: Function}} the characters that can be typed, with their
 *   ids; `read()` returns what `readable` finds in the text and its states, and the same object until the text changes */
export function reader(figure) {
  const network = languageModel(tensors(figure.get("weights")));
  const ids = figure.get("vocabulary").map((token, id) => [token, id]);
  const known = new Map(ids.filter(([token]) => Array.from(token).length === 1));
  let last = { text: null };
  function read() {
    const text = figure.get("text");
    if (last.text !== text) {
      const found = readable(text, known, figure.get("longest"));
      last = { text, ...found, states: network.read(found.ids) };
    }
    return last;
  }
  return { network, known, read };
}
