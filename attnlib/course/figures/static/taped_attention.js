import { need, softmaxOf } from "./tape.js";

// Attention on a tape: one query for each sentence, S keys and values, each a sequence of matrices (B, d).

/** Dot products times a factor. @param query (B, d) @param keys S of (B, d) @returns (B, S) */
export function dotScores(tape, query, keys, factor = 1) {
  const B = query.rows, d = query.columns, S = keys.length;
  need(keys[0].columns === d, `a query of ${d} numbers cannot be multiplied with a key of ${keys[0].columns}`);
  return tape.taped(B, S, (out) => {
    for (let i = 0; i < B; i++)
      for (let j = 0; j < S; j++) {
        let sum = 0;
        for (let k = i * d; k < (i + 1) * d; k++) sum += query.data[k] * keys[j].data[k];
        out[i * S + j] = factor * sum;
      }
  }, (g) => {
    for (let i = 0; i < B; i++)
      for (let j = 0; j < S; j++) {
        const slope = factor * g[i * S + j];
        for (let k = i * d; k < (i + 1) * d; k++) {
          query.grad[k] += slope * keys[j].data[k];
          keys[j].grad[k] += slope * query.data[k];
        }
      }
  });
}

/** v · tanh(W q + U k): both products are given. @param query (B, a) @param keys S of (B, a) @param v (1, a) */
export function additiveScores(tape, query, keys, v) {
  const B = query.rows, a = query.columns, S = keys.length;
  const hidden = keys.map(() => new tape.Numbers(B * a));
  return tape.taped(B, S, (out) => {
    for (let i = 0; i < B; i++)
      for (let j = 0; j < S; j++) {
        let sum = 0;
        for (let k = 0, at = i * a; k < a; k++, at++) {
          hidden[j][at] = Math.tanh(query.data[at] + keys[j].data[at]);
          sum += v.data[k] * hidden[j][at];
        }
        out[i * S + j] = sum;
      }
  }, (g) => {
    for (let i = 0; i < B; i++)
      for (let j = 0; j < S; j++)
        for (let k = 0, at = i * a; k < a; k++, at++) {
          const h = hidden[j][at], slope = g[i * S + j] * v.data[k] * (1 - h * h);
          v.grad[k] += g[i * S + j] * h;
          query.grad[at] += slope;
          keys[j].grad[at] += slope;
        }
  });
}

/** The softmax over the first `lengths[i]` scores of each row; the others get 0, and a row of none is all 0.
 * @param scores (B, S) @param {number[]} lengths */
export function maskedSoftmax(tape, scores, lengths) {
  const B = scores.rows, S = scores.columns;
  return tape.taped(B, S, (out) => {
    for (let i = 0; i < B; i++)
      if (lengths[i]) out.set(softmaxOf(scores.data.subarray(i * S, i * S + lengths[i])), i * S);
  }, (g, weights) => {
    for (let i = 0; i < B; i++) {
      let mean = 0;
      for (let j = i * S; j < (i + 1) * S; j++) mean += g[j] * weights[j];
      for (let j = i * S; j < (i + 1) * S; j++) scores.grad[j] += weights[j] * (g[j] - mean);
    }
  });
}

/** The context Σ_j α_j v_j. @param weights (B, S) @param values S of (B, d) @returns (B, d) */
export function mixed(tape, weights, values) {
  const B = weights.rows, S = weights.columns, d = values[0].columns;
  return tape.taped(B, d, (out) => {
    for (let i = 0; i < B; i++)
      for (let j = 0; j < S; j++)
        for (let k = i * d; k < (i + 1) * d; k++) out[k] += weights.data[i * S + j] * values[j].data[k];
  }, (g) => {
    for (let i = 0; i < B; i++)
      for (let j = 0; j < S; j++) {
        let sum = 0;
        for (let k = i * d; k < (i + 1) * d; k++) {
          sum += g[k] * values[j].data[k];
          values[j].grad[k] += g[k] * weights.data[i * S + j];
        }
        weights.grad[i * S + j] += sum;
      }
  });
}

/** The mean of the first `lengths[i]` of a sequence, for each sentence i. @param sequence S of (B, d) @returns (B, d) */
export function meanOf(tape, sequence, lengths) {
  const B = lengths.length, S = sequence.length;
  const share = (i, j) => (j < lengths[i] ? 1 / lengths[i] : 0);
  const shares = tape.Numbers.from({ length: B * S }, (_, at) => share(Math.floor(at / S), at % S));
  return mixed(tape, tape.matrix(B, S, shares), sequence);
}
