// Where a network begins: every parameter drawn as torch draws it, from one seed.

export const LAYERS = 1; // of self-attention

/** The state_dict of a model before it has learned anything: an encoder of two directions or of self-attention, whose
 * annotations are as wide as the decoder's state, so that every score fits.
 * @param {{encoder: string, decoder: string, score: ?string}} kind @param {{vocabulary: number, width: number}} sizes width is even
 * @param {() => number} random in 0..1 */
export function firstWeights({ encoder, decoder, score }, { vocabulary, width }, random) {
  const half = width / 2, embedded = half, state = {};
  const uniform = (bound) => () => (2 * random() - 1) * bound;
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const put = (name, rows, columns, draw) => { state[name] = { rows, columns, data: Array.from({ length: rows * columns }, draw) }; };
  const linear = (name, out, into, bias = true) => {
    put(`${name}.weight`, out, into, uniform(1 / Math.sqrt(into)));
    if (bias) put(`${name}.bias`, out, 1, uniform(1 / Math.sqrt(into)));
  };
  const gru = (before, after, into, d) => {
    for (const [name, columns] of [["weight_ih", into], ["weight_hh", d], ["bias_ih", 1], ["bias_hh", 1]])
      put(`${before}${name}${after}`, 3 * d, columns, uniform(1 / Math.sqrt(d)));
  };
  const norm = (name) => {
    put(`${name}.weight`, width, 1, () => 1);
    put(`${name}.bias`, width, 1, () => 0);
  };
  if (encoder === "transformer") {
    put("encoder.embedding.weight", vocabulary, width, normal);
    for (let n = 0; n < LAYERS; n++) {
      const block = `encoder.blocks.${n}`;
      norm(`${block}.norm_1`);
      norm(`${block}.norm_2`);
      for (const name of ["q", "k", "v", "o"]) linear(`${block}.attention.W_${name}`, width, width);
      linear(`${block}.W_1`, 2 * width, width);
      linear(`${block}.W_2`, width, 2 * width);
    }
    norm("encoder.norm");
  } else {
    put("encoder.embedding.weight", vocabulary, embedded, normal);
    gru("encoder.rnn.", "_l0", embedded, half);
    gru("encoder.rnn_backward.", "_l0", embedded, half);
  }
  put("decoder.embedding.weight", vocabulary, embedded, normal);
  linear("decoder.W_s", width, width);
  if (score === "additive") {
    linear("decoder.attention.score.W_a", width, width, false);
    linear("decoder.attention.score.U_a", width, width, false);
    linear("decoder.attention.score.v_a", 1, width, false);
  }
  if (score === "general") linear("decoder.attention.score.W", width, width, false);
  if (decoder === "bahdanau") {
    gru("decoder.cell.", "", embedded + width, width);
    linear("decoder.U_o", 2 * width, width);
    linear("decoder.V_o", 2 * width, embedded, false);
    linear("decoder.C_o", 2 * width, width, false);
  } else {
    gru("decoder.rnn.", "_l0", embedded, width);
    if (decoder === "luong") linear("decoder.W_c", width, 2 * width, false);
  }
  linear("decoder.W_o", vocabulary, width);
  return state;
}
