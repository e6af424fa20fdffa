// Trained networks in the page: weights as attnlib.course.figures.weights writes them, layers as torch computes them.
// One sentence at a time, in float64; vectors are Float64Array, a weight is {rows, columns, data}.

/** Weights by name. @param {Object<string, {shape: number[], data: string, scale?: number}>} exported in float16; with a
 * scale, in int8 times the scale */
export function tensors(exported) {
  return Object.fromEntries(Object.entries(exported).map(([name, { shape, data, scale }]) => {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    const numbers = scale === undefined
      ? Float64Array.from({ length: bytes.length / 2 }, (_, n) => half(view.getUint16(2 * n, true)))
      : Float64Array.from(bytes, (_, n) => view.getInt8(n) * scale);
    const columns = shape.length > 1 ? shape.at(-1) : 1;
    return [name, { rows: numbers.length / columns, columns, data: numbers }];
  }));
}

/** A float16 from its 16 bits. */
export function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31, fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

/** W x + b. @param {object} W (d_out, d_in) @param {?object} b (d_out) @param {Float64Array} x (d_in) */
export function affine(W, b, x) {
  const { rows, columns, data } = W;
  if (x.length !== columns) throw new Error(`a weight of ${columns} columns cannot meet a vector of ${x.length}`);
  const y = b ? b.data.slice() : new Float64Array(rows);
  for (let i = 0, at = 0; i < rows; i++) {
    let sum = 0;
    for (let j = 0; j < columns; j++) sum += data[at++] * x[j];
    y[i] += sum;
  }
  return y;
}

/** Row n of a table: the embedding of token n. */
export function rowOf({ rows, columns, data }, n) {
  if (!(n >= 0 && n < rows)) throw new Error(`no row ${n} in a table of ${rows}`);
  return data.subarray(n * columns, (n + 1) * columns);
}

/** Vectors one after the other. */
export function joined(...vectors) {
  const all = new Float64Array(vectors.reduce((sum, v) => sum + v.length, 0));
  let at = 0;
  for (const v of vectors) {
    all.set(v, at);
    at += v.length;
  }
  return all;
}

/** Σ_j α_j h_j. @param {Float64Array[]} annotations (S, d) @param {ArrayLike<number>} alpha (S)
 * @param {number} d width of an annotation, which none may tell @returns {Float64Array} (d), zeros where S = 0 */
export function weightedSum(annotations, alpha, d) {
  const context = new Float64Array(d);
  annotations.forEach((h, j) => { for (let n = 0; n < h.length; n++) context[n] += alpha[j] * h[n]; });
  return context;
}

/** a · b. @param {Float64Array} a (d) @param {Float64Array} b (d) */
export function product(a, b) {
  let sum = 0;
  for (let n = 0; n < a.length; n++) sum += a[n] * b[n];
  return sum;
}

const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** One step of torch's GRU: h' = (1 − z) n + z h.
 * @param {Float64Array} input gates W_ih x + b_ih, in torch's order: reset, update, new (3d)
 * @param {Float64Array} h (d) @param {object} W_hh (3d, d) @param {object} b_hh (3d) */
export function gruStep(input, h, W_hh, b_hh) {
  const d = h.length, hidden = affine(W_hh, b_hh, h);
  return Float64Array.from({ length: d }, (_, i) => {
    const reset = sigmoid(input[i] + hidden[i]);
    const update = sigmoid(input[d + i] + hidden[d + i]);
    const fresh = Math.tanh(input[2 * d + i] + reset * hidden[2 * d + i]);
    return (1 - update) * fresh + update * h[i];
  });
}

/** attnlib's Encoder with a GRU of one layer, in both directions if the weights say so.
 * @param {object} weights of `tensors()` @param {number[]} ids of the source @param {string} prefix of its names
 * @returns {{annotations: Float64Array[], summary: Float64Array}} (S, d_annotation), (d_annotation) */
export function encode(weights, ids, prefix = "encoder.") {
  const embedded = ids.map((id) => rowOf(weights[`${prefix}embedding.weight`], id));
  const read = (rnn, order) => {
    const [W_ih, W_hh, b_ih, b_hh] = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"]
      .map((name) => weights[`${prefix}${rnn}.${name}_l0`]);
    let h = new Float64Array(W_hh.columns);
    const states = [];
    for (const j of order) states[j] = h = gruStep(affine(W_ih, b_ih, embedded[j]), h, W_hh, b_hh);
    return { states, last: h };
  };
  const order = ids.map((_, j) => j);
  const forward = read("rnn", order);
  if (!weights[`${prefix}rnn_backward.weight_ih_l0`]) return { annotations: forward.states, summary: forward.last };
  const backward = read("rnn_backward", order.toReversed());
  return {
    annotations: ids.map((_, j) => joined(forward.states[j], backward.states[j])),
    summary: joined(forward.last, backward.last),
  };
}

/** The largest entry's place; the first of equals, as torch's argmax of one row. */
export function argmax(x) {
  let best = 0;
  for (let i = 1; i < x.length; i++) if (x[i] > x[best]) best = i;
  return best;
}

/** Logarithms of the softmax: never overflows. */
export function logSoftmax(x) {
  const largest = x.reduce((a, b) => Math.max(a, b), -Infinity);
  const total = Math.log(x.reduce((sum, xi) => sum + Math.exp(xi - largest), 0));
  return Float64Array.from(x, (xi) => xi - largest - total);
}

/** The k likeliest entries, the first of equals first. @param {ArrayLike<number>} x @returns {number[]} places */
export function likeliest(x, k) {
  return Array.from(x, (_, n) => n).sort((a, b) => x[b] - x[a] || a - b).slice(0, k);
}
