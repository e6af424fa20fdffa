import { likeliest, logSoftmax } from "./network.js";

// attnlib's beam search, with one of the decoders that the page has: `luong`, `bahdanau`.

/** What every vocabulary of attnlib begins and ends a target with; no id below the end is ever written. */
const BEGIN = 1;
const END = 2;

const MEAN = 1; // the length penalty: about the mean log-probability of a piece

/** The best targets, as `attnlib.search.beam_search` with length_penalty=1; one beam is greedy.
 * @param {{step: Function}} decoder @param {object} weights @param {object} source what the decoder's `begin` made of it
 * @param {{size: number, maxLength: number, edits: Object<number, number[]>}} how beams; tokens a target may have, its
 *   end included; step -> (S) in place of α, in every beam
 * @returns {{steps: object[], log: number, score: number}[]} best first: what `step` returned, with `token` and the
 *   logarithms of all chances, `log` (V) */
export function searchTargets(decoder, weights, source, { size, maxLength, edits = {} }) {
  let beams = [{ steps: [], log: 0, score: 0 }];
  for (let i = 0; i < maxLength && !beams.every(ended); i++) {
    const found = beams.flatMap((beam) => {
      if (ended(beam)) return [beam];
      const { token, state } = beam.steps.at(-1) ?? { token: BEGIN, state: source.state };
      const said = decoder.step(weights, source, state, token, edits[i] ?? null);
      said.log = logSoftmax(said.logits).fill(-Infinity, 0, END); // after the softmax, as attnlib.search has it
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
