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
    return taped(B, m, (out) => {
      for (let i = 0, to = 0; i < B; i++)
        for (let o = 0, row = 0; o < m; o++, to++) {
          let sum = b ? b.data[o] : 0;
          for (let at = i * n, end = at + n; at < end; at++, row++) sum += X[at] * w[row];
          out[to] = sum;
        }
    }, (g) => {
      for (let i = 0, from = 0; i < B; i++)
        for (let o = 0, row = 0; o < m; o++, from++) {
          const slope = g[from];
          if (b) b.grad[o] += slope;
          for (let at = i * n, end = at + n; at < end; at++, row++) {
            dX[at] += slope * w[row];
            dW[row] += slope * X[at];
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
    steps.push(() => logits.forEach(({ rows, columns: V, data, grad }, t) => {
      for (let i = 0; i < rows; i++) {
        if (targets[t][i] === ignored) continue;
        const p = softmaxOf(data.subarray(i * V, (i + 1) * V));
        for (let k = 0; k < V; k++) grad[i * V + k] += (p[k] - (k === targets[t][i])) / counted;
      }
    }));
    logits.forEach(({ rows, columns: V, data }, t) => {
      for (let i = 0; i < rows; i++)
        if (targets[t][i] !== ignored) sum -= Math.log(softmaxOf(data.subarray(i * V, (i + 1) * V))[targets[t][i]]);
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

  return { matrix, taped, affine, embed, tanh, add, joined, pick, gru, maxout, crossEntropy, backward, forget, Numbers };
}

export const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/** In float64, whatever the logits are kept in. */
export function softmaxOf(logits) {
  let top = -Infinity, sum = 0;
  for (const x of logits) top = Math.max(top, x);
  const p = Float64Array.from(logits, (x) => Math.exp(x - top));
  for (const x of p) sum += x;
  return p.map((x) => x / sum);
}

export function need(holds, words) {
  if (!holds) throw new Error(words);
}
