import { fixed, html, set, setText } from "../../../figures/static/dom.js";
import { judged, saidAt } from "./votes.js";

// What the model says with these weights, how sure it is, and how far the weights are from its own.

const MOST = Math.log(2); // two distributions that share no word are so far apart
const NO_DISTANCE = 1e-9;
const VERDICTS = { own: "= its own answer", same: "= the answer stays", near: "≈ less or more sure", other: "≠ another answer" };

/** @returns {{element: HTMLElement, draw: Function}} */
export function answerPanel() {
  const says = html("bdi", { class: "ow-says" }), verdict = html("p", { class: "ow-verdict" });
  const sure = gauge(), far = gauge();
  const own = html("div", { class: "ow-own" }), same = html("div", { class: "ow-same" });
  sure.track.prepend(same);
  sure.track.append(own);
  const element = html("div", { class: "ow-answer" },
    html("div", { class: "ow-head" }, html("p", {}, html("span", { class: "ow-who" }, "the model says "), says), verdict),
    sure.element, far.element);

  /** @param {object} of answers: the two; p, before: probability of the second, now and with the model's own weights;
   *   z: log-odds; within: how far p may move in the same answer; distance: nats */
  function draw({ answers, z, p, before, within, distance }) {
    const kind = distance < NO_DISTANCE ? "own" : judged(p, before, within);
    setText(says, saidAt(z, answers));
    setText(verdict, VERDICTS[kind]);
    set(verdict, { "data-kind": kind });
    sure.draw({ name: `p of ${answers[1]}`, value: fixed(p), share: p, ends: answers });
    own.style.left = `${100 * before}%`;
    const [low, high] = [Math.max(0, before - within), Math.min(1, before + within)];
    same.style.left = `${100 * low}%`;
    same.style.width = `${100 * (high - low)}%`;
    far.draw({
      name: "weights moved", value: `${fixed(distance)} nats`, share: distance / MOST,
      ends: ["0", `${fixed(MOST)}: no shared word`],
    });
  }
  return { element, draw };
}

/** A name, a number, a bar of it, and what its ends are. */
function gauge() {
  const name = html("span"), number = html("b"), fill = html("div", { class: "ow-full" });
  const [low, high] = [html("span"), html("span")];
  const track = html("div", { class: "ow-gauge" }, fill);
  function draw(of) {
    setText(name, of.name);
    setText(number, of.value);
    setText(low, of.ends[0]);
    setText(high, of.ends[1]);
    fill.style.width = `${100 * Math.min(1, of.share)}%`;
  }
  const element = html("div", { class: "ow-measure" }, html("p", {}, name, number), track,
    html("p", { class: "ow-ends", "aria-hidden": "true" }, low, high));
  return { element, track, draw };
}
