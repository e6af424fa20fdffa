// Typed text as the corpora have it: in lower case, blanks between words and punctuation, without Markdown. The same
// as detokenize(tokenize(text, "en"), "en") of attnlib.data.translation, for any text.

const IN_WORDS = "[\\p{L}\\p{N}_]"; // what Python's \w is
const BETWEEN = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000"; // and its \s
const PLAIN_TOKEN = new RegExp(`\\{${IN_WORDS}+\\}|${IN_WORDS}+'?|[^\\p{L}\\p{N}_${BETWEEN}]`, "gu");
const GLUE = / (?=[.,;:!?)\]])|(?<=[(['])\x20/gu;

/** @param {string} text anything @returns {string} */
export function plainText(text) {
  const words = text.toWellFormed?.() ?? text;
  const bare = words.replace(/\[([^[\]]*)\]\([^()]*\)/gu, "$1").replace(/[*`]/gu, "").replaceAll("’", "'").toLowerCase();
  const tokens = (bare.match(PLAIN_TOKEN) ?? []).map((token) => (token[0] === "{" && token.length > 1 ? "X" : token));
  return tokens.join(" ").replace(GLUE, "");
}
