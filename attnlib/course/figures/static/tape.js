// Gradients in the page. A tape holds the operations of one training step; each computes its value and says, beside
// that, how a gradient goes back through it. A value is a matrix {rows, columns, data, grad}, a sequence an array of
// one matrix (B, d) for each place. Rows are sentences everywhere.

/** @param {typeof Float32Array | typeof Float64Array} Numbers what a matrix is made of */
export function newTape(Numbers = Float32Array) {
  const steps = []; // how gradients go back, in the order of the forward pass

  function matrix(rows, columns, data = new Numbers(rows * columns)) {
    return { rows, columns, data, grad: new Numbers(rows * columns) };
  }

  function taped(rows, columns, forward, backward) {
    const out = matrix(rows, columns);
    forward(out.data);
    steps.push(() => backward(out.grad, out.data));
    return out;
  }

  /** x Wᵀ + b. @param x (B, n) @param W (m, n) @param {?object} b (m) @returns (B, m) */
  function affine(x, W, b = null) {
    need(x.columns === W.columns, `a weight of ${W.columns} columns cannot meet a matrix of ${x.columns}`);
    const B = x.rows, n = x.columns, m = W.rows, { data: X, grad: dX } = x, { data: w, grad: dW } = W;
    // Four outputs at a time: what is loaded once serves four sums, which do not wait for each other. Three times as quick.
    const whole = m - (m % 4);
    return taped(B, m, (out) => {
      for (let i = 0; i < B; i++) {
        const to = i * m, start = i * n;
        for (let o = 0; o < whole; o += 4) {
          let s0 = b ? b.data[o] : 0, s1 = b ? b.data[o + 1] : 0, s2 = b ? b.data[o + 2] : 0, s3 = b ? b.data[o + 3] : 0;
          for (let k = 0, row = o * n; k < n; k++, row++) {
            const x_k = X[start + k];
            s0 += x_k * w[row];
            s1 += x_k * w[row + n];
            s2 += x_k * w[row + 2 * n];
            s3 += x_k * w[row + 3 * n];
          }
          out[to + o] = s0;
          out[to + o + 1] = s1;
          out[to + o + 2] = s2;
          out[to + o + 3] = s3;
        }
        for (let o = whole; o < m; o++) {
          let sum = b ? b.data[o] : 0;
          for (let k = 0; k < n; k++) sum += X[start + k] * w[o * n + k];
          out[to + o] = sum;
        }
      }
    }, (g) => {
      for (let i = 0; i < B; i++) {
        const from = i * m, start = i * n;
        if (b) for (let o = 0; o < m; o++) b.grad[o] += g[from + o];
        for (let o = 0; o < whole; o += 4) {
          const g0 = g[from + o], g1 = g[from + o + 1], g2 = g[from + o + 2], g3 = g[from + o + 3];
          if (!g0 && !g1 && !g2 && !g3) continue; // padding: nothing is learned from it
          for (let k = 0, row = o * n; k < n; k++, row++) {
            const x_k = X[start + k];
            dX[start + k] += g0 * w[row] + g1 * w[row + n] + g2 * w[row + 2 * n] + g3 * w[row + 3 * n];
            dW[row] += g0 * x_k;
            dW[row + n] += g1 * x_k;
            dW[row + 2 * n] += g2 * x_k;
            dW[row + 3 * n] += g3 * x_k;
          }
        }
        for (let o = whole; o < m; o++)
          for (let k = 0; k < n; k++) {
            dX[start + k] += g[from + o] * w[o * n + k];
            dW[o * n + k] += g[from + o] * X[start + k];
          }
      }
    });
  }

  /** Rows of a table. @param table (V, d) @param {number[]} ids @returns (ids.length, d) */
  function embed(table, ids) {
    const d = table.columns;
    for (const id of ids) need(id >= 0 && id < table.rows, `no row ${id} in a table of ${table.rows}`);
    return taped(ids.length, d, (out) => {
      ids.forEach((id, i) => out.set(table.data.subarray(id * d, (id + 1) * d), i * d));
    }, (g) => {
      ids.forEach((id, i) => { for (let k = 0; k < d; k++) table.grad[id * d + k] += g[i * d + k]; });
    });
  }

  function tanh(x) {
    return taped(x.rows, x.columns, (out) => { for (let i = 0; i < out.length; i++) out[i] = Math.tanh(x.data[i]); },
      (g, y) => { for (let i = 0; i < g.length; i++) x.grad[i] += g[i] * (1 - y[i] * y[i]); });
  }

  function relu(x) {
    return taped(x.rows, x.columns, (out) => { for (let i = 0; i < out.length; i++) out[i] = Math.max(0, x.data[i]); },
      (g, y) => { for (let i = 0; i < g.length; i++) if (y[i] > 0) x.grad[i] += g[i]; });
  }

  /** LN(x) w + b: each row moved to a mean of 0 and scaled to a variance of 1. @param w (d) @param b (d) */
  function layerNorm(x, w, b, eps = 1e-5) {
    const B = x.rows, d = x.columns, unit = new Numbers(B * d), scale = new Numbers(B);
    return taped(B, d, (out) => {
      for (let i = 0; i < B; i++) {
        let mean = 0, variance = 0;
        for (let at = i * d; at < (i + 1) * d; at++) mean += x.data[at] / d;
        for (let at = i * d; at < (i + 1) * d; at++) variance += (x.data[at] - mean) ** 2 / d;
        scale[i] = 1 / Math.sqrt(variance + eps);
        for (let k = 0, at = i * d; k < d; k++, at++) {
          unit[at] = (x.data[at] - mean) * scale[i];
          out[at] = unit[at] * w.data[k] + b.data[k];
        }
      }
    }, (g) => {
      for (let i = 0; i < B; i++) {
        let mean = 0, along = 0; // of the slopes, and of the slopes times the row
        for (let k = 0, at = i * d; k < d; k++, at++) {
          mean += g[at] * w.data[k] / d;
          along += g[at] * w.data[k] * unit[at] / d;
          w.grad[k] += g[at] * unit[at];
          b.grad[k] += g[at];
        }
        for (let k = 0, at = i * d; k < d; k++, at++) x.grad[at] += scale[i] * (g[at] * w.data[k] - mean - unit[at] * along);
      }
    });
  }

  function add(...terms) {
    const [{ rows, columns }] = terms;
    for (const x of terms) need(x.rows === rows && x.columns === columns, "only matrices of one shape can be added");
    return taped(rows, columns, (out) => { for (const x of terms) for (let i = 0; i < out.length; i++) out[i] += x.data[i]; },
      (g) => { for (const x of terms) for (let i = 0; i < g.length; i++) x.grad[i] += g[i]; });
  }

  /** [x; y], row by row. */
  function joined(x, y) {
    const B = x.rows, n = x.columns, m = y.columns;
    return taped(B, n + m, (out) => {
      for (let i = 0; i < B; i++) {
        out.set(x.data.subarray(i * n, (i + 1) * n), i * (n + m));
        out.set(y.data.subarray(i * m, (i + 1) * m), i * (n + m) + n);
      }
    }, (g) => {
      for (let i = 0; i < B; i++) {
        for (let k = 0; k < n; k++) x.grad[i * n + k] += g[i * (n + m) + k];
        for (let k = 0; k < m; k++) y.grad[i * m + k] += g[i * (n + m) + n + k];
      }
    });
  }

  /** For each row i the row i of sequence[place[i]]; zeros where the place is -1. @returns (B, d) */
  function pick(sequence, place) {
    const [{ rows: B, columns: d }] = sequence;
    return taped(B, d, (out) => {
      for (let i = 0; i < B; i++)
        if (place[i] >= 0) out.set(sequence[place[i]].data.subarray(i * d, (i + 1) * d), i * d);
    }, (g) => {
      for (let i = 0; i < B; i++)
        if (place[i] >= 0) for (let k = i * d; k < (i + 1) * d; k++) sequence[place[i]].grad[k] += g[k];
    });
  }

  /** A step of torch's GRU from its two affine maps, each in the order reset, update, new: h' = (1 − z) n + z h.
   * @param input W_ih x + b_ih (B, 3d) @param hidden W_hh h + b_hh (B, 3d) @param h (B, d) */
  function gru(input, hidden, h) {
    const B = h.rows, d = h.columns;
    const r = new Numbers(B * d), z = new Numbers(B * d), n = new Numbers(B * d);
    return taped(B, d, (out) => {
      for (let i = 0; i < B; i++)
        for (let k = 0, at = 3 * i * d, to = i * d; k < d; k++, at++, to++) {
          r[to] = sigmoid(input.data[at] + hidden.data[at]);
          z[to] = sigmoid(input.data[at + d] + hidden.data[at + d]);
          n[to] = Math.tanh(input.data[at + 2 * d] + r[to] * hidden.data[at + 2 * d]);
          out[to] = (1 - z[to]) * n[to] + z[to] * h.data[to];
        }
    }, (g) => {
      for (let i = 0; i < B; i++)
        for (let k = 0, at = 3 * i * d, to = i * d; k < d; k++, at++, to++) {
          const update = g[to] * (h.data[to] - n[to]) * z[to] * (1 - z[to]);
          const fresh = g[to] * (1 - z[to]) * (1 - n[to] * n[to]);
          const reset = fresh * hidden.data[at + 2 * d] * r[to] * (1 - r[to]);
          h.grad[to] += g[to] * z[to];
          input.grad[at] += reset;
          hidden.grad[at] += reset;
          input.grad[at + d] += update;
          hidden.grad[at + d] += update;
          input.grad[at + 2 * d] += fresh;
          hidden.grad[at + 2 * d] += fresh * r[to];
        }
    });
  }

  /** The larger of each two neighbours. @param x (B, 2d) @returns (B, d) */
  function maxout(x) {
    const d = x.columns / 2;
    const larger = (i) => (x.data[2 * i + 1] > x.data[2 * i] ? 2 * i + 1 : 2 * i);
    return taped(x.rows, d, (out) => { for (let i = 0; i < out.length; i++) out[i] = x.data[larger(i)]; },
      (g) => { for (let i = 0; i < g.length; i++) x.grad[larger(i)] += g[i]; });
  }

  /** Mean of −log softmax(logits)[target] over all rows of a sequence whose target is not `ignored`.
   * @returns {number} in nats; its gradient stands in the logits already */
  function crossEntropy(logits, targets, ignored) {
    const counted = targets.flat().filter((id) => id !== ignored).length;
    let sum = 0;
    logits.forEach(({ rows, columns: V, data, grad }, t) => {
      for (let i = 0; i < rows; i++) {
        if (targets[t][i] === ignored) continue;
        const p = softmaxOf(data.subarray(i * V, (i + 1) * V));
        for (let k = 0; k < V; k++) grad[i * V + k] += (p[k] - (k === targets[t][i])) / counted;
        sum -= Math.log(p[targets[t][i]]);
      }
    });
    return sum / counted;
  }

  /** All gradients, from the last operation to the first; the tape is empty then. */
  function backward() {
    while (steps.length) steps.pop()();
  }

  /** Leave out what was taped: nothing is to be learned from it. */
  function forget() {
    steps.length = 0;
  }

  return { matrix, taped, affine, embed, tanh, relu, layerNorm, add, joined, pick, gru, maxout, crossEntropy, backward, forget, Numbers };
}

export const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** In float64, whatever the logits are kept in. */
export function softmaxOf(logits) {
  const p = new Float64Array(logits.length);
  let top = -Infinity, sum = 0;
  for (let k = 0; k < p.length; k++) top = Math.max(top, logits[k]);
  for (let k = 0; k < p.length; k++) sum += p[k] = Math.exp(logits[k] - top);
  for (let k = 0; k < p.length; k++) p[k] /= sum;
  return p;
}

export function need(holds, words) {
  if (!holds) throw new Error(words);
}
