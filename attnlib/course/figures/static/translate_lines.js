import { fixed, html, set, setText } from "../../../figures/static/dom.js";
import { changedPlaces } from "./surgery_state.js";

// What stands around the map of weights: the pieces that are read, the translation before and after surgery, the beams.

/** The pieces of the source; those that the vocabulary does not have are marked. */
export function pieceLine() {
  const list = html("span", { class: "tl-pieces", role: "img", dir: "auto" });
  const element = html("p", { class: "as-line" }, html("span", { class: "as-label" }, "pieces"), list);

  /** @param {object} of pieces: string[] (S); unknown: boolean[] (S); place: the chosen one */
  function draw({ pieces, unknown, place }) {
    list.replaceChildren(...pieces.map((piece, j) => html("span", {
      class: ["tl-piece", unknown[j] && "tl-unknown", j === place && "as-here"].filter(Boolean).join(" "),
    }, unknown[j] ? `${piece} → <unk>` : piece)));
    set(list, { "aria-label": `${pieces.length} pieces: ${pieces.map((piece, j) => (unknown[j] ? `${piece}, unknown` : piece)).join(" ")}` });
  }
  return { element, draw };
}

/** Two lines of pieces, one above the other; what has changed is boxed, what was painted bears a pencil.
 * @param {string} language of the translation */
export function translationLines(language) {
  const line = (label) => {
    const text = html("span", { class: "tl-written", role: "img", dir: "auto" });
    return { text, element: html("p", { class: "as-line" }, html("span", { class: "as-label" }, label), text) };
  };
  const own = line(language), now = line("after surgery");
  const element = html("div", { class: "as-output" }, own.element, now.element);

  /** @param {object} of before, after: string[] pieces; said: their texts; painted: number[] steps; shown: how many
   *   steps are to be seen; step: the chosen one */
  function draw({ before, after, said, painted: steps, shown, step }) {
    const changed = changedPlaces(before, after);
    const pieces = (tokens, isNow) => tokens.slice(0, shown).map((token, i) => html("span", {
      class: ["tl-token", isNow && i === step && "as-here", isNow && changed[i] && "as-changed",
        isNow && steps.includes(i) && "as-painted"].filter(Boolean).join(" "),
    }, token.replaceAll("▁", "\u00a0")));
    own.text.replaceChildren(...pieces(before, steps.length === 0));
    now.text.replaceChildren(...pieces(after, true));
    now.element.style.visibility = steps.length ? "visible" : "hidden"; // its room is kept
    set(own.text, { "aria-label": said[0] || "nothing" });
    set(now.text, { "aria-label": said[1] || "nothing" });
  }
  return { element, draw };
}

/** The beams with their scores, the best first; folded until somebody asks. */
export function beamList() {
  const rows = html("ol", { class: "tl-beams" }), summary = html("summary", { "data-lm-suppress-shortcuts": "true" });
  const element = html("details", { class: "tl-details" }, summary, rows);

  /** @param {{text: string, score: number, log: number}[]} beams */
  function draw(beams) {
    element.hidden = beams.length < 2;
    setText(summary, `The ${beams.length} beams`);
    rows.replaceChildren(...beams.map(({ text, score, log }) => html("li", {},
      html("span", { dir: "auto" }, text || "nothing"),
      html("span", { class: "tl-score" }, ` ${fixed(score)} (log P ${fixed(log)})`))));
  }
  return { element, draw };
}
