import { bahdanau } from "./bahdanau.js";
import { luong } from "./luong.js";
import { plainText } from "./plain_text.js";
import { searchTargets } from "./translator_search.js";

// From typed text to pieces, and from pieces to translations. Nothing here knows of a page.

/** Characters of a text, and pieces of it, that a figure reads. */
export const MOST_CHARACTERS = 1000;
export const MOST_PIECES = 60;

/** What a translator reads of a text, as `read_text` of attnlib.course.figures.translate.
 * @param {object} subwords of `subwordsOf` @param {string} text
 * @returns {{ids: number[], pieces: string[], unknown: boolean[], problem: string}} problem: why nothing is
 *   translated, in one sentence; "" where something is */
export function readText(subwords, text) {
  const length = Array.from(text).length;
  const nothing = { ids: [], pieces: [], unknown: [] };
  if (length > MOST_CHARACTERS) {
    return { ...nothing, problem: `At most ${MOST_CHARACTERS} characters are read, and this text has ${length}.` };
  }
  const { ids, pieces } = subwords.encode(plainText(text));
  const unknown = ids.map((id) => id === subwords.unknown);
  const found = { ids, pieces, unknown, problem: "" };
  if (ids.length === 0) found.problem = "There is nothing to read yet: type an English sentence.";
  else if (ids.length > MOST_PIECES) {
    found.problem = `At most ${MOST_PIECES} pieces are read, and this text has ${ids.length}.`;
  } else if (pieces.every((piece, j) => unknown[j] || piece === "▁")) {
    found.problem = "None of these characters occurred in training, so that there is nothing to translate.";
  }
  return found;
}

/** The decoder that has such weights: Luong's has a GRU of torch's, Bahdanau's a single cell. */
export function decoderOf(weights) {
  return "decoder.cell.weight_ih" in weights ? bahdanau : luong;
}

/** Text, edits and beams -> everything that the figure shows. Asked twice for the same, it answers from memory.
 * @param {object} translator of `unpackTranslator` */
export function writer({ weights, subwords, maxLength }) {
  const decoder = decoderOf(weights);
  let read = { text: null }, before = { size: null }, after = { given: null };
  const text = ({ steps }) => subwords.decode(steps.map(({ token }) => token));
  const searched = (size, edits) => searchTargets(decoder, weights, read.source, { size, maxLength, edits })
    .map((beam) => ({ ...beam, text: text(beam) }));

  /** @param {string} typed @param {Object<number, number[]>} given step -> (S) @param {number} size beams
   * @returns {{ids: number[], pieces: string[], unknown: boolean[], problem: string, edits: object, before: object[],
   *   after: object[]}} the beams as the model writes them, and after surgery; [] where nothing is translated */
  return function translate(typed, given, size) {
    if (read.text !== typed) {
      const found = readText(subwords, typed);
      read = { text: typed, ...found, source: found.problem ? null : decoder.begin(weights, found.ids) };
      before = { size: null };
    }
    if (before.size !== size) {
      before = { size, beams: read.source ? searched(size, {}) : [] };
      after = { given: null };
    }
    if (after.given !== given) {
      // Weights of another text have other places: they mean nothing here.
      const edits = Object.fromEntries(Object.entries(given).filter(([, row]) => row.length === read.ids.length));
      const painted = read.source && Object.keys(edits).length > 0;
      after = { given, edits, beams: painted ? searched(size, edits) : before.beams };
    }
    return { ...read, edits: after.edits, before: before.beams, after: after.beams };
  };
}
