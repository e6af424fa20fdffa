import { newTape, need } from "./tape.js";
import { additiveScores, dotScores, maskedSoftmax, meanOf, mixed } from "./taped_attention.js";

// attnlib's Seq2Seq, trained in the page: an encoder of GRUs or of self-attention reads, a decoder writes, with attention
// or without.
// Parameters have the names and shapes of attnlib's state_dict, so they go there and back.

/** What a score does to the keys, once for each sentence, and then with each query. As in `attnlib.scores`. */
export const SCORES = () => ({
  dot: { project: (tape, p, h) => h, compare: (tape, query, keys) => dotScores(tape, query, keys) },
  scaled_dot: {
    project: (tape, p, h) => h,
    compare: (tape, query, keys) => dotScores(tape, query, keys, 1 / Math.sqrt(query.columns)),
  },
  general: {
    project: (tape, p, h) => tape.affine(h, p("W.weight")),
    compare: (tape, query, keys) => dotScores(tape, query, keys),
  },
  additive: {
    project: (tape, p, h) => tape.affine(h, p("U_a.weight")),
    compare: (tape, query, keys, p) =>
      additiveScores(tape, tape.affine(query, p("W_a.weight")), keys, p("v_a.weight")),
  },
});

/**
 * A model and its optimiser.
 * @param {{encoder: string, positions: ?boolean, decoder: string, score: ?string}} kind an encoder of attnlib, "gru" in two
 *   directions, or "transformer" with positions or without; a decoder of attnlib, "initial_state", "bahdanau" or "luong",
 *   and a score of `SCORES` for the last two
 * @param {Object<string, {rows: number, columns: number, data: number[]}>} state attnlib's state_dict; vectors have one
 *   column
 * @param {{precise?: boolean, pad?: number}} options precise: float64; pad: the id of padding
 */
export function newLearner({ encoder, positions = false, decoder, score = null }, state, { precise = false, pad = 0 } = {}) {
  const Numbers = precise ? Float64Array : Float32Array;
  const tape = newTape(Numbers), scores = SCORES();
  const parameters = Object.fromEntries(Object.entries(state).map(([name, { rows, columns, data }]) =>
    [name, { rows, columns, data: Numbers.from(data), grad: new Numbers(data.length) }]));
  const p = (name) => {
    need(parameters[name], `the model has no parameter ${name}`);
    return parameters[name];
  };
  const inScore = (name) => p(`decoder.attention.score.${name}`);
  const adam = newAdam(parameters, Numbers);
  let masked = true; // padding gets no weight

  /** States of a GRU over a sequence. @param names what precedes weight_ih, and what follows it */
  function recur([before, after], inputs, h) {
    const [W_ih, W_hh, b_ih, b_hh] = ["weight_ih", "weight_hh", "bias_ih", "bias_hh"].map((n) => p(before + n + after));
    return inputs.map((x) => (h = tape.gru(tape.affine(x, W_ih, b_ih), tape.affine(h, W_hh, b_hh), h)));
  }

  /** What an encoder makes of B sentences, padded to S: an annotation for each place, 0 at padding, and a summary. */
  const ENCODERS = {
    gru(source, lengths) {
      const places = [...source[0].keys()], real = (i, j) => j < lengths[i];
      const table = p("encoder.embedding.weight"), start = () => tape.matrix(source.length, p("encoder.rnn.weight_hh_l0").columns);
      const embedded = (order) => places.map((j) => tape.embed(table, source.map((ids, i) => ids[order(i, j)])));
      const forwards = recur(["encoder.rnn.", "_l0"], embedded((i, j) => j), start());
      const mirror = (i, j) => (real(i, j) ? lengths[i] - 1 - j : j);
      const backwards = recur(["encoder.rnn_backward.", "_l0"], embedded(mirror), start());
      const kept = places.map((j) => tape.pick(forwards, lengths.map((n, i) => (real(i, j) ? j : -1))));
      const turned = places.map((j) => tape.pick(backwards, lengths.map((n, i) => (real(i, j) ? n - 1 - j : -1))));
      return {
        annotations: kept.map((h, j) => tape.joined(h, turned[j])),
        summary: tape.joined(tape.pick(forwards, lengths.map((n) => n - 1)), turned[0]),
      };
    },
    transformer(source, lengths) {
      const norm = (name, xs) => xs.map((x) => tape.layerNorm(x, p(`encoder.${name}.weight`), p(`encoder.${name}.bias`)));
      const map = (name, xs) => xs.map((x) => tape.affine(x, p(`encoder.${name}.weight`), p(`encoder.${name}.bias`)));
      let xs = source[0].map((_, j) => tape.embed(p("encoder.embedding.weight"), source.map((ids) => ids[j])));
      if (positions) xs = xs.map((x, j) => tape.add(x, wave(j, x)));
      for (let n = 0; parameters[`encoder.blocks.${n}.W_1.weight`]; n++) {
        const block = `blocks.${n}.`, normed = norm(`${block}norm_1`, xs);
        const [q, k, v] = ["q", "k", "v"].map((name) => map(`${block}attention.W_${name}`, normed));
        const contexts = q.map((query) =>
          mixed(tape, maskedSoftmax(tape, dotScores(tape, query, k, 1 / Math.sqrt(query.columns)), lengths), v));
        xs = map(`${block}attention.W_o`, contexts).map((context, j) => tape.add(xs[j], context));
        const hidden = map(`${block}W_1`, norm(`${block}norm_2`, xs)).map(tape.relu);
        xs = map(`${block}W_2`, hidden).map((more, j) => tape.add(xs[j], more));
      }
      const annotations = norm("norm", xs).map((x, j) => tape.pick([x], lengths.map((n) => (j < n ? 0 : -1))));
      return { annotations, summary: meanOf(tape, annotations, lengths) };
    },
  };
  need(ENCODERS[encoder], `unknown encoder ${encoder}, known are ${Object.keys(ENCODERS).join(", ")}`);

  /** Where a token stands, as attnlib's SinusoidalPositions writes it: alike for all sentences. */
  function wave(j, { rows: B, columns: d }) {
    const turn = (k) => j / 10_000 ** ((k - (k % 2)) / d);
    return tape.matrix(B, d, Numbers.from({ length: B * d }, (_, at) => (at % d % 2 ? Math.cos : Math.sin)(turn(at % d))));
  }

  /** @param {number[][]} source B sentences, padded to S @param {number[]} lengths */
  function encode(source, lengths) {
    const { annotations, summary } = ENCODERS[encoder](source, lengths);
    const keys = score ? annotations.map((h) => scores[score].project(tape, inScore, h)) : null;
    return { annotations, keys, lengths, s: tape.tanh(tape.affine(summary, p("decoder.W_s.weight"), p("decoder.W_s.bias"))) };
  }

  function look(query, memory) {
    const compared = scores[score].compare(tape, query, memory.keys, inScore);
    const weights = maskedSoftmax(tape, compared, masked ? memory.lengths : memory.lengths.map(() => memory.keys.length));
    return { weights, context: mixed(tape, weights, memory.annotations) };
  }

  /** One step of the decoder: the logits of what follows token y, the weights, the new state. */
  const STEPS = {
    initial_state(y, s) {
      const [state] = recur(["decoder.rnn.", "_l0"], [y], s);
      return { logits: tape.affine(state, p("decoder.W_o.weight"), p("decoder.W_o.bias")), s: state, weights: null };
    },
    bahdanau(y, s, memory) {
      const { weights, context } = look(s, memory);
      const [state] = recur(["decoder.cell.", ""], [tape.joined(y, context)], s);
      const pairs = tape.add(tape.affine(state, p("decoder.U_o.weight"), p("decoder.U_o.bias")),
        tape.affine(y, p("decoder.V_o.weight")), tape.affine(context, p("decoder.C_o.weight")));
      const logits = tape.affine(tape.maxout(pairs), p("decoder.W_o.weight"), p("decoder.W_o.bias"));
      return { logits, s: state, weights };
    },
    luong(y, s, memory) {
      const [state] = recur(["decoder.rnn.", "_l0"], [y], s);
      const { weights, context } = look(state, memory);
      const mixedState = tape.tanh(tape.affine(tape.joined(context, state), p("decoder.W_c.weight")));
      return { logits: tape.affine(mixedState, p("decoder.W_o.weight"), p("decoder.W_o.bias")), s: state, weights };
    },
  };
  need(STEPS[decoder], `unknown decoder ${decoder}, known are ${Object.keys(STEPS).join(", ")}`);
  need((score !== null) === (decoder !== "initial_state"), `the decoder ${decoder} and the score ${score} do not fit`);
  need(score === null || scores[score], `unknown score ${score}, known are ${Object.keys(scores).join(", ")}`);

  const step = (ids, s, memory) => STEPS[decoder](tape.embed(p("decoder.embedding.weight"), ids), s, memory);

  /** The loss of a batch, in nats per token; its gradients are added to the parameters' own.
   * @param {{source: number[][], lengths: number[], inputs: number[][], targets: number[][]}} batch inputs begin with
   *   <bos>, targets end with <eos>, both are padded */
  function loss({ source, lengths, inputs, targets }) {
    const memory = encode(source, lengths), logits = [];
    let { s } = memory;
    const columns = (rows) => rows[0].map((_, t) => rows.map((row) => row[t]));
    for (const ids of columns(inputs)) {
      const out = step(ids, s, memory);
      logits.push(out.logits);
      s = out.s;
    }
    const value = tape.crossEntropy(logits, columns(targets), pad);
    tape.backward();
    return value;
  }

  /** One step of Adam on a batch. @returns {number} the loss before it */
  function learn(batch, rate) {
    for (const { grad } of Object.values(parameters)) grad.fill(0);
    const value = loss(batch);
    adam.step(rate);
    return value;
  }

  /** What the model writes, greedily, and where it looks.
   * @returns {{tokens: number[], weights: ?number[][]}[]} for each sentence; weights (written, S), padding included */
  function write(source, lengths, { bos, eos, longest }) {
    const memory = encode(source, lengths), written = source.map(() => ({ tokens: [], weights: score ? [] : null }));
    let { s } = memory, ids = source.map(() => bos);
    const open = new Set(source.keys());
    for (let t = 0; t < longest && open.size; t++) {
      const out = step(ids, s, memory), V = out.logits.columns;
      s = out.s;
      ids = ids.map((_, i) => mostLikely(out.logits.data.subarray(i * V, (i + 1) * V), [pad, bos]));
      for (const i of open) {
        if (score) written[i].weights.push([...out.weights.data.subarray(i * out.weights.columns, (i + 1) * out.weights.columns)]);
        if (ids[i] === eos) open.delete(i);
        else written[i].tokens.push(ids[i]);
      }
    }
    tape.forget();
    return written;
  }

  return { parameters, loss, learn, write, mask(on) { masked = on; } };
}

/** The first of the largest, other than some. */
export function mostLikely(logits, never) {
  let best = -1;
  logits.forEach((x, k) => { if (!never.includes(k) && (best < 0 || x > logits[best])) best = k; });
  return best;
}

/** Adam as torch has it, after the gradient of all parameters together is cut to a norm of at most `clip`. */
export function newAdam(parameters, Numbers, { clip = 1, beta1 = 0.9, beta2 = 0.999, eps = 1e-8 } = {}) {
  const all = Object.values(parameters);
  const mean = all.map(({ data }) => new Numbers(data.length)), square = all.map(({ data }) => new Numbers(data.length));
  let t = 0;
  function step(rate) {
    let norm = 0;
    for (const { grad } of all) for (const g of grad) norm += g * g;
    const shorter = Math.min(1, clip / (Math.sqrt(norm) + 1e-6));
    t += 1;
    const first = 1 - beta1 ** t, second = Math.sqrt(1 - beta2 ** t);
    all.forEach(({ data, grad }, n) => {
      const m = mean[n], v = square[n];
      for (let i = 0; i < data.length; i++) {
        const g = shorter * grad[i];
        m[i] += (1 - beta1) * (g - m[i]);
        v[i] = beta2 * v[i] + (1 - beta2) * g * g;
        data[i] -= (rate / first) * m[i] / (Math.sqrt(v[i]) / second + eps);
      }
    });
  }
  return { step };
}
