import { fixed, html, set, setText } from "../../../figures/static/dom.js";
import { judged, saidAt } from "./votes.js";

// What the model says with these weights, how sure it is, and how far the weights are from its own.

const MOST = Math.log(2); // two distributions that share no word are so far apart
const VERDICTS = { same: "= the answer stays", near: "≈ less or more sure", other: "≠ another answer" };

/** @returns {{element: HTMLElement, draw: Function}} */
export function answerPanel() {
  const says = html("bdi", { class: "ow-says" }), verdict = html("p", { class: "ow-verdict" });
  const sure = gauge(), far = gauge();
  const own = html("div", { class: "ow-own" }), same = html("div", { class: "ow-same" });
  sure.track.prepend(same);
  sure.track.append(own);
  const element = html("div", { class: "ow-answer" },
    html("p", {}, html("span", { class: "ow-who" }, "the model says "), says), verdict, sure.element, far.element);

  /** @param {object} of answers: the two; p, before: probability of the second, now and with the model's own weights;
   *   z: log-odds; within: how far p may move in the same answer; distance: nats */
  function draw({ answers, z, p, before, within, distance }) {
    setText(says, saidAt(z, answers));
    const kind = judged(p, before, within);
    setText(verdict, VERDICTS[kind]);
    set(verdict, { "data-kind": kind });
    sure.draw(`p of ${answers[1]}`, fixed(p), p);
    own.style.left = `${100 * before}%`;
    const [low, high] = [Math.max(0, before - within), Math.min(1, before + within)];
    same.style.left = `${100 * low}%`;
    same.style.width = `${100 * (high - low)}%`;
    far.draw("from its own weights", `${fixed(distance)} of ${fixed(MOST)} nats`, distance / MOST);
  }
  return { element, draw };
}

/** A name, a number, and a bar of it. */
function gauge() {
  const name = html("span"), number = html("b"), fill = html("div", { class: "ow-full" });
  const track = html("div", { class: "ow-gauge", "aria-hidden": "true" }, fill);
  function draw(text, value, share) {
    setText(name, text);
    setText(number, value);
    fill.style.width = `${100 * Math.min(1, share)}%`;
  }
  return { element: html("div", { class: "ow-measure" }, html("p", {}, name, number), track), track, draw };
}
