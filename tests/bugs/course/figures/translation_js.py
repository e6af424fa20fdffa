"""Bugs of one line in the JavaScript of the translator in the page."""

from tests.bugs import of

WHERE, FILE = "course/figures/static/", "course/figures/test_translator_file.py"
TYPED, TESTS = "course/figures/test_typed_text.py", "course/figures/test_translate.py"

# fmt: off
BUGS = of(
    WHERE + "subwords.js", TYPED,
    ("page's pieces: the last of equals is merged", "scores[n] > (scores[best] ?? -Infinity)",
     "scores[n] > -Infinity && scores[n] >= (scores[best] ?? -Infinity)"),
    ("page's pieces: neighbours keep their score", "if (best > 0) scores[best - 1] = scoreOf(best - 1);", ""),
    ("page's pieces: every unknown character is a piece", "id === unknown && ids.at(-1) === unknown", "false"),
    ("page's pieces: the first entry, not the longest", "length = n + 1 - at;", "length = n + 1 - at; break;"),
    ("page's pieces: blanks are kept as they are", "(kept.length && kept.at(-1) !== SPACE)", "true"),
    ("page's pieces: blanks at the end are pieces", '.replace(new RegExp(`${BLANK_MARK}+$`, "u"), "")', ""),
    ("page's pieces: control pieces are written", "if (kinds[id] === CONTROL) continue;", ""),
    ("page's pieces: no blanks between words", 'text === "" && id !== unknown', "id !== unknown"),
) + of(
    WHERE + "plain_text.js", TYPED,
    ("page's text: only Latin letters", "[\\\\p{L}\\\\p{N}_]", "[A-Za-z0-9_]"),
    ("page's text: links stay", ', "$1").replace', ', "$&").replace'),
    ("page's text: braces are placeholders", '&& token.length > 1 ? "X"', '? "X"'),
    ("page's text: capitals stay", '"\'").toLowerCase()', '"\'")'),
    ("page's text: no blank after a bracket", "|(?<=[(['])\\x20", ""),
) + of(
    WHERE + "translator_file.js", FILE,
    ("page's translator: one scale", "view.getFloat32(at + 4 * i, true)", "view.getFloat32(at, true)"),
    ("page's translator: without signs", "view.getInt8(numbers + n)", "view.getUint8(numbers + n)"),
    ("page's translator: what is too long is taken", "if (at !== bytes.length)", "if (at > bytes.length)"),
    ("page's translator: other subwords are taken", "if (rows !== subwords.pieces.length)", "if (!rows)"),
    ("page's translator: another one is taken", "if (detail?.digest !== digest)", "if (!detail?.digest)"),
    ("page's translator: loaded for every figure", "if (!shelf.has(digest))", "if (true)"),
    ("page's translator: a failure is kept", "coming.catch(() => shelf.delete(digest));", "coming.catch(() => {});"),
) + of(
    WHERE + "luong.js", TESTS,
    ("page's Luong: looks before it steps", "(key) => product(state, key)", "(key) => product(before, key)"),
    ("page's Luong: state and context exchanged", "joined(context, state)).map", "joined(state, context)).map"),
    ("page's Luong: no tanh", "joined(context, state)).map(Math.tanh)", "joined(context, state))"),
    ("page's Luong: s_0 without tanh", "summary).map(Math.tanh)", "summary)"),
    ("page's Luong: painted weights do not count", "painted ? Float64Array.from(painted) : own", "own"),
) + of(
    WHERE + "bahdanau.js", TESTS,
    ("page's Bahdanau: painted weights do not count", "painted ? Float64Array.from(painted) : own", "own"),
    ("page's Bahdanau: own weights are the painted ones", "{ state: next, own,", "{ state: next, own: alpha,"),
    ("page's Bahdanau: no maxout", "Math.max(pair(2 * n), pair(2 * n + 1))", "pair(2 * n)"),
    ("page's Bahdanau: keys without U_a", "v[n] * Math.tanh(asked[n] + key[n])", "v[n] * Math.tanh(asked[n])"),
) + of(
    WHERE + "translator_search.js", TESTS,
    ("page's search: <bos> is written", ".fill(-Infinity, 0, END)", ".fill(-Infinity, 0, BEGIN)"),
    ("page's search: no length penalty", "const MEAN = 1;", "const MEAN = 0;"),
    ("page's search: a step too short", "(5 + i + 1) / 6", "(5 + i) / 6"),
    ("page's search: ended ones go on", "if (ended(beam)) return [beam];", ""),
    ("page's search: the likeliest of each beam alone", "likeliest(said.log, size)", "likeliest(said.log, 1)"),
    ("page's search: the worst are kept", "b.score - a.score", "a.score - b.score"),
    ("page's search: ends with the first", "!beams.every(ended)", "!beams.some(ended)"),
) + of(
    WHERE + "translation.js", TESTS,
    ("page's limits: characters are counted in halves", "Array.from(text).length", "text.length"),
    ("page's limits: a piece too many", "ids.length > MOST_PIECES", "ids.length > MOST_PIECES + 1"),
    ("page's limits: blanks are known", ' || piece === "▁")', ")"),
)
