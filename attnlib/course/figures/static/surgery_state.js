// What a reader does to the weights of a step, and how it is put into a link. Pure functions, no page.

const DIGITS = 1e4; // of a weight in a link

/** What the network can read of a text.
 * @param {string} text @param {Map<string, number>} known character -> id @param {number} longest
 * @returns {{ids: number[], tokens: string[], strange: string[], cut: number}} strange: characters it does not know,
 *   each once; cut: known characters beyond the longest */
export function readable(text, known, longest) {
  const characters = Array.from(text);
  const fine = characters.filter((character) => known.has(character));
  const tokens = fine.slice(0, longest);
  return {
    ids: tokens.map((character) => known.get(character)), tokens, cut: fine.length - tokens.length,
    strange: [...new Set(characters.filter((character) => !known.has(character)))],
  };
}

/** Set one weight of a row; the others share what is left, in the proportions they had (evenly, if they had nothing).
 * @param {ArrayLike<number>} row (S), adds up to 1 @param {number} place @param {number} weight in 0..1
 * @returns {number[]} (S), adds up to 1 */
export function painted(row, place, weight) {
  const numbers = Array.from(row), others = numbers.length - 1;
  if (others === 0) return [1];
  const chosen = Math.min(1, Math.max(0, weight));
  const rest = numbers.reduce((sum, w, j) => (j === place ? sum : sum + w), 0);
  return numbers.map((w, j) => {
    if (j === place) return chosen;
    return (1 - chosen) * (rest > 1e-9 ? w / rest : 1 / others);
  });
}

/** All weight on one place. @param {number} size S @param {number} place @returns {number[]} */
export function allOn(size, place) {
  return Array.from({ length: size }, (_, j) => (j === place ? 1 : 0));
}

/** Which places of two targets differ. A token that one of them lacks differs.
 * @param {string[]} before @param {string[]} after @returns {boolean[]} as long as the longer */
export function changedPlaces(before, after) {
  return Array.from({ length: Math.max(before.length, after.length) }, (_, i) => before[i] !== after[i]);
}

/** A state as the part of an address after "#": `name&text=…&step=…&place=…&edit=step:place-share.…`.
 * Only shares above 0 are listed, in ten-thousandths.
 * @param {string} name of the figure @param {{text: string, step: number, place: number, edits: object}} state */
export function toHash(name, { text, step, place, edits }) {
  const values = new URLSearchParams({ text, step, place });
  for (const [at, row] of Object.entries(edits)) {
    const shares = row.map((w, j) => [j, Math.round(w * DIGITS)]).filter(([, share]) => share > 0);
    values.append("edit", `${at}:${shares.map((pair) => pair.join("-")).join(".")}`);
  }
  return `#${name}&${values}`;
}

/** The state in a hash; null if it is not meant for this figure.
 * @param {string} hash @param {string} name of the figure @param {(text: string) => number} sizeOf S of a text
 * @param {number} maxLength steps there may be @throws {Error} in words, when it is meant for it and makes no sense */
export function fromHash(hash, name, sizeOf, maxLength) {
  if (!hash.startsWith(`#${name}&`)) return null;
  const values = new URLSearchParams(hash.slice(name.length + 2));
  const text = values.get("text");
  if (text === null) throw new Error("it has no text");
  const size = sizeOf(text);
  const whole = (word, limit, what) => {
    if (/^\d{1,9}$/.test(word ?? "") && Number(word) < limit) return Number(word);
    throw new Error(`${what} “${word}” is not in 0 to ${limit - 1}`);
  };
  const edits = {};
  for (const edit of values.getAll("edit")) {
    const [at, list, ...more] = edit.split(":");
    const row = new Array(size).fill(0);
    if (!list || more.length) throw new Error(`“${edit}” is not a row of weights`);
    for (const entry of list.split(".")) {
      const [j, share] = entry.split("-");
      row[whole(j, size, "the place")] = whole(share, DIGITS + 1, "the share");
    }
    const total = row.reduce((sum, share) => sum + share, 0);
    if (total === 0) throw new Error(`the weights of “${edit}” are all 0`);
    edits[whole(at, maxLength, "the step")] = row.map((share) => share / total);
  }
  return {
    text, edits, step: whole(values.get("step") ?? "0", maxLength, "the step"),
    place: size ? whole(values.get("place") ?? "0", size, "the place") : 0,
  };
}
