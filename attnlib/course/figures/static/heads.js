import { affine, joined, rowOf, tensors } from "./network.js";

// A layer of heads as attnlib.self_attention.MultiHeadAttention computes it, and the reader behind it. Behind the
// softmax all is a sum over heads, up to the reader's ReLU if it has one: what each head adds to that sum is computed
// once, on and off, and a switch only adds up again. d = d_model, a head has the width d_head = d / H, and d_out is
// n_tasks · V, or the width of the reader's hidden layer. Nothing here knows of a page.

/** A model ready to run: with each head, W^h = W_read W_o^h, (d_out, d_head), and the bias of all, (d_out).
 * @param {{heads: number, weights: object}} exported by HeadGrid */
export function headsModel({ heads: H, weights }) {
  const W = tensors(weights), d = W["embedding.weight"].columns, width = d / H;
  const first = W["read.weight"] ? "read" : "read.0", read = W[`${first}.weight`], W_o = W["attention.W_o.weight"];
  const ways = Array.from({ length: H }, (_, h) => {
    const data = new Float64Array(read.rows * width);
    for (let i = 0; i < read.rows; i++) {
      for (let m = 0; m < d; m++) {
        const factor = read.data[i * d + m];
        for (let n = 0; n < width; n++) data[i * width + n] += factor * W_o.data[m * d + h * width + n];
      }
    }
    return { rows: read.rows, columns: width, data };
  });
  const bias = affine(read, W[`${first}.bias`], W["attention.W_o.bias"]?.data ?? new Float64Array(d));
  return { H, d, W, ways, bias };
}

const projected = ({ W }, name, x) => affine(W[`${name}.weight`], W[`${name}.bias`], x);

/** Queries, keys and values of all heads side by side.
 * @param {object} model @param {number[]} ids (T) @returns {{q: Float64Array[], k: Float64Array[], v: Float64Array[]}} (T, d) */
export function project(model, ids) {
  const positions = model.W["positions.p"];
  const x = ids.map((id, t) => {
    const vector = rowOf(model.W["embedding.weight"], id).slice();
    if (positions) rowOf(positions, t).forEach((p, n) => { vector[n] += p; });
    return vector;
  });
  const [q, k, v] = ["W_q", "W_k", "W_v"].map((name) => x.map((vector) => projected(model, `attention.${name}`, vector)));
  return { q, k, v };
}

/** The weights of one head; of one that is off, whose queries are 0, all alike.
 * @param {object} model @param {{q: Float64Array[], k: Float64Array[]}} of project() @param {number} h @param {boolean} on
 * @returns {Float64Array[]} (T, T) */
export function weightsOfHead({ H, d }, { q, k }, h, on) {
  const T = q.length, width = d / H, first = h * width, root = Math.sqrt(width);
  if (!on) return q.map(() => new Float64Array(T).fill(1 / T));
  return q.map((query) => {
    const weights = new Float64Array(T);
    let largest = -Infinity, total = 0;
    for (let j = 0; j < T; j++) {
      let score = 0;
      for (let n = first; n < first + width; n++) score += query[n] * k[j][n];
      weights[j] = score / root;
      largest = Math.max(largest, weights[j]);
    }
    for (let j = 0; j < T; j++) total += weights[j] = Math.exp(weights[j] - largest);
    for (let j = 0; j < T; j++) weights[j] /= total;
    return weights;
  });
}

/** What each head adds to the sum at each position: W^h Σ_j α_ij v_j^h.
 * @param {object} model @param {number[]} ids (T)
 * @returns {{T: number, on: Float64Array[], off: Float64Array[]}} (H, T · d_out) and, alike everywhere, (H, d_out) */
export function partsOfHeads(model, ids) {
  const { H, d, ways } = model, width = d / H, made = project(model, ids);
  const part = (h, weights) => {
    const found = new Float64Array(width);
    for (let j = 0; j < weights.length; j++) {
      for (let n = 0; n < width; n++) found[n] += weights[j] * made.v[j][h * width + n];
    }
    return affine(ways[h], null, found);
  };
  return {
    T: ids.length,
    on: ways.map((_, h) => joined(...weightsOfHead(model, made, h, true).map((weights) => part(h, weights)))),
    off: ways.map((_, h) => part(h, weightsOfHead(model, made, h, false)[0])),
  };
}

/** The answers of one row: the heads' parts added up, and read to the end.
 * @param {object} model @param {object} parts of partsOfHeads() @param {number[]} off heads
 * @returns {Float64Array[]} logits (T, n_tasks · V) */
export function logitsOfRow(model, { T, on, off: parts }, off) {
  const { H, W, bias } = model, width = bias.length, sum = new Float64Array(T * width);
  for (let t = 0; t < T; t++) sum.set(bias, t * width);
  for (let h = 0; h < H; h++) {
    const part = off.includes(h) ? parts[h] : on[h]; // the one begins again at every position, the other goes on
    for (let n = 0, m = 0; n < sum.length; n++, m++) {
      if (m === part.length) m = 0;
      sum[n] += part[m];
    }
  }
  const read = Array.from({ length: T }, (_, t) => sum.subarray(t * width, (t + 1) * width));
  return W["read.weight"] ? read : read.map((hidden) => projected(model, "read.2", hidden.map((x) => Math.max(x, 0))));
}

/** What the model says: the largest logit of each task, the first of equals.
 * @param {Float64Array[]} logits (T, n_tasks · V) @param {number} nTasks
 * @returns {number[][]} (T, n_tasks) numbers of words */
export function saidOfRow(logits, nTasks) {
  const V = logits[0].length / nTasks;
  return logits.map((all) => Array.from({ length: nTasks }, (_, r) => {
    let best = r * V;
    for (let n = best + 1; n < (r + 1) * V; n++) if (all[n] > all[best]) best = n;
    return best - r * V;
  }));
}

/** Share of right answers of each task, and the rows with a wrong one.
 * @param {number[][][]} said (N, T, n_tasks) @param {number[][][]} targets (N, T, n_tasks), -1 = not asked
 * @returns {{accuracy: number[], mistaken: number[]}} (n_tasks), numbers of rows */
export function countRight(said, targets) {
  const right = targets[0][0].map(() => 0), asked = targets[0][0].map(() => 0), mistaken = [];
  targets.forEach((row, n) => {
    let wrong = false;
    row.forEach((place, t) => place.forEach((target, r) => {
      if (target < 0) return;
      asked[r] += 1;
      if (said[n][t][r] === target) right[r] += 1;
      else wrong = true;
    }));
    if (wrong) mistaken.push(n);
  });
  return { accuracy: right.map((n, r) => n / asked[r]), mistaken };
}
