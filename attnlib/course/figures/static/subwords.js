// Byte-pair encoding as sentencepiece does it, from the bytes of its own model: normalise, merge, number; and back.

const NORMAL = 1, UNKNOWN = 2, CONTROL = 3; // kinds of pieces
const BLANK_MARK = "▁", STRANGE = " ⁇ "; // a blank within a piece; what an unknown piece is written as
const SPACE = 0x20;

/** @param {Uint8Array} bytes what `Subwords.model` holds
 * @returns {{pieces: string[], unknown: number, encode: (text: string) => {ids: number[], pieces: string[]},
 *   decode: (ids: number[]) => string}} encode: a run of unknown characters is one piece, as it stands in the text */
export function subwordsOf(bytes) {
  const pieces = [], kinds = [], ranks = new Map();
  let normalise = null;
  for (const [field, value] of fieldsOf(bytes)) {
    if (field === 1) {
      const entry = Object.fromEntries(fieldsOf(value));
      const piece = new TextDecoder().decode(entry[1]), kind = entry[3] ?? NORMAL;
      if (kind === NORMAL) ranks.set(piece, { id: pieces.length, score: entry[2] });
      pieces.push(piece);
      kinds.push(kind);
    } else if (field === 3) normalise = normaliser(Object.fromEntries(fieldsOf(value)));
  }
  const unknown = kinds.indexOf(UNKNOWN);
  if (!normalise || unknown < 0) throw new Error("these are no subwords");

  function encode(text) {
    const ids = [], said = [];
    for (const word of normalise(text).split(new RegExp(`(?=${BLANK_MARK})`, "u"))) { // no piece goes beyond a word
      for (const piece of merged(word, ranks)) {
        const id = ranks.get(piece)?.id ?? unknown;
        if (id === unknown && ids.at(-1) === unknown) said[said.length - 1] += piece;
        else {
          ids.push(id);
          said.push(piece);
        }
      }
    }
    return { ids, pieces: said };
  }
  function decode(ids) {
    let text = "";
    for (const id of ids) {
      if (kinds[id] === CONTROL) continue;
      const piece = id === unknown ? STRANGE : pieces[id];
      const bare = text === "" && id !== unknown && piece.startsWith(BLANK_MARK) ? piece.slice(BLANK_MARK.length) : piece;
      text += bare.replaceAll(BLANK_MARK, " ");
    }
    return text;
  }
  return { pieces, unknown, encode, decode };
}

/** The pieces of a word: of all neighbours that make a known piece the best are joined, the first of equals, until
 * there are none. @param {string} word @param {Map<string, {score: number}>} ranks */
function merged(word, ranks) {
  const parts = Array.from(word);
  const scoreOf = (n) => ranks.get(parts[n] + parts[n + 1])?.score ?? -Infinity;
  const scores = Array.from({ length: Math.max(0, parts.length - 1) }, (_, n) => scoreOf(n));
  while (true) {
    let best = -1;
    for (let n = 0; n < scores.length; n++) if (scores[n] > (scores[best] ?? -Infinity)) best = n;
    if (best < 0) return parts;
    parts.splice(best, 2, parts[best] + parts[best + 1]);
    scores.splice(best, 1);
    if (best > 0) scores[best - 1] = scoreOf(best - 1);
    if (best < scores.length) scores[best] = scoreOf(best);
  }
}

/** sentencepiece's normalisation: the longest entry of its table at every place, one blank for many, none at the
 * ends, one before the first word.
 * @param {Object<number, Uint8Array | number>} spec fields of its message NormalizerSpec
 * @returns {(text: string) => string} "" where nothing is left */
function normaliser(spec) {
  if ([3, 4, 5].some((option) => spec[option] === 0)) throw new Error("subwords with other blanks are not known here");
  const table = spec[2], view = new DataView(table.buffer, table.byteOffset, table.byteLength);
  const size = view.getUint32(0, true), units = size / 4;
  const unit = (n) => (n < units ? view.getUint32(4 + 4 * n, true) : 0);
  const offset = (u) => ((u >>> 10) << ((u & 512) >>> 6)) >>> 0;
  const written = table.subarray(4 + size);

  /** What stands for the longest known beginning: [its bytes, how many it takes the place of]. */
  function replacement(text, at) {
    let node = offset(unit(0)), found = -1, length = 0;
    for (let n = at; n < text.length; n++) {
      node ^= text[n];
      const here = unit(node);
      if (node >= units || (here & 0x800000ff) !== text[n]) break;
      node ^= offset(here);
      if ((here >>> 8) & 1) {
        found = unit(node) & 0x7fffffff;
        length = n + 1 - at;
      }
    }
    if (found >= 0) return [written.subarray(found, written.indexOf(0, found)), length];
    const first = text[at];
    const long = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    return [text.subarray(at, at + long), long];
  }

  return (text) => {
    const bytes = new TextEncoder().encode(text), kept = [];
    for (let at = 0; at < bytes.length;) {
      const [instead, length] = replacement(bytes, at);
      for (const byte of instead) if (byte !== SPACE || (kept.length && kept.at(-1) !== SPACE)) kept.push(byte);
      at += length;
    }
    const words = new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(kept));
    return `${BLANK_MARK}${words.replaceAll(" ", BLANK_MARK)}`.replace(new RegExp(`${BLANK_MARK}+$`, "u"), "");
  };
}

/** The fields of a message of Protocol Buffers: numbers, and bytes that may be messages themselves.
 * @param {Uint8Array} bytes @returns {[number, number | Uint8Array][]} */
function fieldsOf(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), fields = [];
  let at = 0;
  function varint() {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = view.getUint8(at++);
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  }
  while (at < bytes.length) {
    const key = varint(), field = Math.floor(key / 8);
    if (key % 8 === 0) fields.push([field, varint()]);
    else if (key % 8 === 5) fields.push([field, view.getFloat32(at, true)]), at += 4;
    else if (key % 8 === 2) {
      const length = varint();
      fields.push([field, bytes.subarray(at, at + length)]);
      at += length;
    } else throw new Error("these are no subwords");
  }
  return fields;
}
