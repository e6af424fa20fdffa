import { button } from "./controls.js";
import { html, set, setText } from "./dom.js";

// One question at a time: a bet first, then whether it was right and why, what to look at, and the next question.
// Which question it is and what was bet belong to the reader of this one view: they are not in the model.

/** @param {{show: (traits: object) => void}} of show: the figure takes these traits
 * @returns {{element: HTMLElement, draw: (questions: object[]) => void}} questions: as questions.py checks them */
export function questionCard({ show }) {
  const count = html("span", { class: "attn-count" }), words = html("span", { dir: "auto" });
  const ask = html("p", { class: "attn-ask", tabindex: -1 }, count, " ", words);
  const answers = html("div", { class: "attn-answers", role: "group", "aria-label": "your bet" });
  const see = button("Show me", () => show(structuredClone(questions[at].show)));
  const on = button("", () => {
    if (at === questions.length - 1) won.clear();
    open((at + 1) % questions.length);
    ask.focus({ preventScroll: true }); // the button has gone; a screen reader reads the question
  });
  const verdict = html("p", { class: "attn-verdict", role: "status", dir: "auto" });
  const steps = html("div", { class: "attn-answers attn-steps" }, see, on);
  const element = html("div", { class: "attn-question", role: "group", hidden: true }, ask, answers, steps, verdict);
  let questions = [], at = 0, bets = [];
  const won = new Set(); // the questions whose bet was right

  function open(n) {
    at = n;
    const { ask: asked, answers: texts } = questions[at];
    set(element, { "aria-label": `question ${at + 1} of ${questions.length}` });
    setText(count, `${at + 1}/${questions.length}`);
    setText(words, asked);
    setText(verdict, "");
    bets = texts.map((text, k) => button(text, () => bet(k)));
    answers.replaceChildren(...bets);
    steps.hidden = true;
  }
  function bet(chosen) {
    const { right, because, show: shown, answers: texts } = questions[at];
    if (!steps.hidden) return; // a bet is a bet
    if (chosen === right) won.add(at);
    bets.forEach((one, k) => {
      set(one, { "aria-disabled": "true", "aria-pressed": String(k === chosen) });
      one.classList.toggle("attn-right", k === right);
      if (k === right || k === chosen) setText(one, `${k === right ? "✓" : "✗"} ${texts[k]}`);
    });
    const last = at === questions.length - 1;
    const tally = last ? ` You won ${won.size} of ${questions.length} bets.` : "";
    setText(verdict, `${chosen === right ? "Right." : `No: ${texts[right]}.`} ${because}${tally}`);
    see.hidden = Object.keys(shown).length === 0;
    setText(on, last ? "Start over" : "Next question");
    on.hidden = last && questions.length === 1;
    steps.hidden = false;
  }
  function draw(given) {
    if (JSON.stringify(given) === JSON.stringify(questions)) return;
    questions = given;
    won.clear();
    element.hidden = questions.length === 0;
    if (questions.length) open(0);
  }
  return { element, draw };
}
