import { logSoftmax } from "./network.js";

// A text that is read twice, the second time with another word in one place: how far apart the states are.

export const LITTLE = 0.1; // the share of the largest difference below which a trace counts as gone

/** Where each word begins, and where the blank after it stands, as `words_in` of attnlib.course.figures.language_model.
 * @param {string[]} tokens characters @returns {[start: number, end: number][]} */
export function wordsIn(tokens) {
  const found = [];
  tokens.forEach((token, n) => {
    if (" \t\n".includes(token)) return;
    if (found.length && found.at(-1)[1] === n) found.at(-1)[1] = n + 1;
    else found.push([n, n + 1]);
  });
  return found;
}

/** What another word leaves behind.
 * @param {object} model of `languageModel` @param {number[]} ids of the text
 * @param {Float64Array[]} states h_1 … h_T of the text @param {[number, number]} word of `wordsIn`
 * @param {number[]} other ids in its place
 * @returns {{shares: number[], left: ?number, before: Float64Array, after: Float64Array, moved: number}}
 *   after the word's last letter and after each that follows, ‖h_t − h'_t‖ as a share of the largest; how many
 *   letters after the word less than a tenth is left for good, null if never; the chances of what comes next, both
 *   ways; and how much probability has moved between them, 0..1 */
export function twoReadings(model, ids, states, [start, end], other) {
  const begun = start ? states[start - 1] : undefined;
  const word = model.read(other, begun);
  const rest = model.read(ids.slice(end), word.at(-1) ?? begun);
  const mine = [states[end - 1], ...states.slice(end)];
  const zero = mine[0].map(() => 0); // h_0
  const others = [word.at(-1) ?? begun ?? zero, ...rest];
  const distances = mine.map((h, n) => {
    let sum = 0;
    for (let i = 0; i < h.length; i++) sum += (h[i] - others[n][i]) ** 2;
    return Math.sqrt(sum);
  });
  const largest = Math.max(...distances);
  const shares = distances.map((distance) => (largest ? distance / largest : 0));
  const gone = shares.findLastIndex((share) => share >= LITTLE) + 1;
  const [before, after] = [mine, others].map((all) => logSoftmax(model.say(all.at(-1))).map(Math.exp));
  const moved = before.reduce((sum, p, n) => sum + Math.abs(p - after[n]), 0) / 2;
  return { shares, left: gone < shares.length ? gone : null, before, after, moved };
}
