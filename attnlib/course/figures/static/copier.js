import { luong } from "./luong.js";
import { affine, argmax, joined, logSoftmax, rowOf } from "./network.js";

// attnlib's CopyDecoder around a LuongDecoder with the score "general": it says a word of its own or copies one of
// the source. One sentence at a time, in float64. Ids from V on are the new words of this source.

/** What every vocabulary of attnlib begins and ends a target with. */
export const BEGIN = 1;
export const END = 2;

const TINY = 2 ** -126; // the smallest normal number of float32: no visible word is impossible to copy
const FIRM = 1e4; // a gate beyond this is 0 or 1 in every precision, and its logarithm is still finite

/** The words of a text: what stands between blanks, as `words_of` of attnlib.course.figures.copier. */
export function wordsOf(text) {
  return text.match(/[^ \t\r\n\u00a0\u3000]+/g) ?? [];
}

/** A trained copier.
 * @param {Object<string, object>} weights of `tensors()`, with the names of Seq2Seq(Encoder, CopyDecoder(LuongDecoder))
 * @param {string[]} vocabulary V words @param {number} unknown the id read in place of a new word
 * @returns {{read: (words: string[]) => object, write: (source: object, held: Function, most: number) => object[]}} */
export function copier(weights, vocabulary, unknown) {
  const V = vocabulary.length;
  const places = new Map(vocabulary.map((word, n) => [word, n])); // not an object: "constructor" is a word, too
  const inner = "decoder.decoder."; // the names of the Luong decoder that is wrapped
  const known = (id) => (id < V ? id : unknown);

  /** A source: its ids, its words of both kinds, and all that is computed once.
   * @param {string[]} words at least one
   * @returns {{words: string[], ids: number[], unseen: string[], annotations: Float64Array[], keys: Float64Array[],
   *   state: Float64Array}} */
  function read(words) {
    const unseen = [...new Set(words.filter((word) => !places.has(word)))];
    const ids = words.map((word) => places.get(word) ?? V + unseen.indexOf(word));
    return { words, ids, unseen, ...luong.begin(weights, ids.map(known), inner) };
  }

  /** One word further.
   * @param {object} source of `read` @param {number} token id of the word before @param {Float64Array} before s_{i-1}
   * @param {?number} held p_gen from outside, or null
   * @returns {{state: Float64Array, own: number, p: number, weights: Float64Array, said: Float64Array,
   *   copied: Float64Array, log: Float64Array}} s_i, the model's own p_gen and the one that counts, α_ij (S),
   *   log P_vocab (V), P_copy and log P (V and the new words) */
  function step(source, token, before, held) {
    const y = rowOf(weights[`${inner}embedding.weight`], known(token));
    const { state, weights: alpha, context, logits } = luong.step(weights, source, before, known(token), null, inner);
    const said = logSoftmax(logits);
    const [gate] = affine(weights["decoder.w_g.weight"], weights["decoder.w_g.bias"], joined(context, state, y));
    const copied = new Float64Array(V + source.unseen.length);
    source.ids.forEach((id, j) => { copied[id] += Math.max(alpha[j], TINY); }); // a word that stands twice counts twice
    const own = 1 / (1 + Math.exp(-gate));
    const asked = held === null ? gate : Math.log(held) - Math.log1p(-held);
    return { state, own, p: held ?? own, weights: alpha, said, copied, log: mix(said, asked, copied) };
  }

  /** The likeliest word at every step, until the end or `most` words.
   * @param {object} source of `read` @param {(i: number) => ?number} held p_gen at step i, or null: the model's own
   * @param {number} most words, the end included
   * @returns {object[]} what `step` returns, and of the word written: `token` its id, `word`, `probability`, and
   *   `share`, how much of its probability was said and not copied */
  function write(source, held, most) {
    const steps = [];
    let token = BEGIN, { state } = source;
    while (steps.length < most && token !== END) {
      const now = step(source, token, state, held(steps.length));
      token = argmax(now.log);
      const share = token < V ? Math.min(1, now.p * Math.exp(now.said[token] - now.log[token])) : 0;
      steps.push({ ...now, token, word: wordOf(source, token), probability: Math.exp(now.log[token]), share });
      ({ state } = now);
    }
    return steps;
  }

  /** @param {object} source of `read` @param {number} id of its extended vocabulary */
  const wordOf = (source, id) => (id < V ? vocabulary[id] : source.unseen[id - V]);
  return { read, write, wordOf };
}

/** log(p_gen P_vocab + (1 − p_gen) P_copy), summed in log space; −∞ for what can neither be said nor copied.
 * @param {Float64Array} said log P_vocab (V) @param {number} gate p_gen before its σ
 * @param {Float64Array} copied P_copy (V or more) */
export function mix(said, gate, copied) {
  const g = Math.min(FIRM, Math.max(-FIRM, gate));
  const [say, copy] = [logSigmoid(g), logSigmoid(-g)];
  return copied.map((mass, n) => {
    const a = n < said.length ? say + said[n] : -Infinity;
    const b = mass > 0 ? copy + Math.log(mass) : -Infinity;
    const larger = Math.max(a, b);
    return larger === -Infinity ? larger : larger + Math.log1p(Math.exp(-Math.abs(a - b)));
  });
}

const logSigmoid = (x) => Math.min(x, 0) - Math.log1p(Math.exp(-Math.abs(x)));
