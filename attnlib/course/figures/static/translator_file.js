import { half } from "./network.js";
import { subwordsOf } from "./subwords.js";

// A translator's file, as attnlib.course.figures.translator_file packs it, and how a page comes by it: from Python,
// from a script beside the page, or from the figure itself. One copy serves all figures of a page.

const KIND = "attnlib translator, 1";
const LANGUAGES = { de: "German", es: "Spanish", fr: "French", ja: "Japanese" }; // by the end of the corpus's name
const SLOW = 120_000; // ms after which Python is no longer waited for

/** @param {object} detail header and data
 * @returns {Promise<{weights: Object<string, {rows: number, columns: number, data: Float64Array}>, subwords: object,
 *   maxLength: number, language: string}>} weights as `tensors()` of network.js makes them
 * @throws {Error} in words */
export async function unpackTranslator(detail) {
  if (detail?.kind !== KIND) throw new Error(`it is not of the kind “${KIND}”`);
  const packed = Uint8Array.from(atob(detail.data), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer()); // throws if a byte has changed
  const view = new DataView(bytes.buffer), weights = {};
  let at = detail.subwords;
  for (const [name, [rows, columns]] of Object.entries(detail.weights)) {
    const data = new Float64Array(rows * (columns ?? 1));
    if (columns === undefined) {
      for (let n = 0; n < rows; n++) data[n] = half(view.getUint16(at + 2 * n, true));
      at += 2 * rows;
    } else {
      const numbers = at + 4 * rows;
      for (let i = 0; i < rows; i++) {
        const scale = view.getFloat32(at + 4 * i, true);
        for (let n = i * columns; n < (i + 1) * columns; n++) data[n] = view.getInt8(numbers + n) * scale;
      }
      at = numbers + rows * columns;
    }
    weights[name] = { rows, columns: columns ?? 1, data };
  }
  if (at !== bytes.length) throw new Error(`it has ${bytes.length} bytes, and its header speaks of ${at}`);
  const subwords = subwordsOf(bytes.subarray(0, detail.subwords));
  for (const side of ["encoder", "decoder"]) {
    const { rows } = weights[`${side}.embedding.weight`];
    if (rows !== subwords.pieces.length) {
      throw new Error(`its model has another vocabulary: ${rows} pieces, and there are ${subwords.pieces.length}`);
    }
  }
  return { weights, subwords, maxLength: detail.max_length, language: LANGUAGES[detail.settings.corpus?.slice(-2)] ?? "another language" };
}

/** The translator of a figure.
 * @param {object} of file: its name; digest: of what the figure was made with; carried: what the figure itself holds,
 *   or null; load: (file: string) => Promise<object>, header and data
 * @returns {Promise<object>} of `unpackTranslator` @throws {Error} one sentence for the reader */
export function translatorOf({ file, digest, carried, load }) {
  const shelf = (globalThis[Symbol.for("attnlib translators")] ??= new Map()); // every figure has a module of its own
  async function fetched() {
    let detail;
    try {
      detail = carried ?? await load(file);
    } catch (error) {
      throw new Error(`The translator is missing: ${error.message ?? error}.`);
    }
    if (detail?.digest !== digest) {
      throw new Error(`${file} holds another translator than the one that this figure was made with.`);
    }
    try {
      return await unpackTranslator(detail);
    } catch (error) {
      throw new Error(`${file} was damaged: ${error.message ?? error}.`);
    }
  }
  if (!shelf.has(digest)) {
    const coming = fetched();
    shelf.set(digest, coming);
    coming.catch(() => shelf.delete(digest)); // the next figure may have more luck
  }
  return shelf.get(digest);
}

/** Ask whoever plays the part of Python. @param {object} experimental of anywidget */
export function loader(experimental) {
  return async (file) => (await experimental.invoke("load", file, { signal: AbortSignal.timeout(SLOW) }))[0];
}
