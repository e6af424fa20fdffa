import { firstWeights, LAYERS } from "./first_weights.js";
import { mostLikely, newAdam, newLearner, SCORES } from "./learner.js";
import { alignmentError, BATCH, HELD_OUT, heldOutOf, newLesson, shownOf } from "./lesson.js";
import { additiveScores, dotScores, maskedSoftmax, meanOf, mixed } from "./taped_attention.js";
import { need, newTape, sigmoid, softmaxOf } from "./tape.js";
import { batchOf, BOS, EOS, FIRST, newTask, PAD, randomNumbers } from "./toy_tasks.js";

// A lesson in a thread of its own, so that the page never waits for it. The thread is made of the text of the functions
// above: whoever shows the figure may have thrown away the address that this module came from.

/** Answers orders in a worker, or in what looks like one. An order may begin another lesson, change it, and make steps;
 * its answer says how far the model is.
 * @param {{onmessage: Function, postMessage: Function}} scope */
export function serveLesson(scope) {
  let lesson = null;
  scope.onmessage = ({ data: { id, begin, changed, steps = 0, grown = false } }) => {
    try {
      if (begin) lesson = newLesson(begin);
      if (changed) lesson.set(changed);
      const losses = Array.from({ length: steps }, () => lesson.learn());
      scope.postMessage({ id, losses, look: lesson.look(), parameters: grown ? lesson.parameters() : null });
    } catch (error) {
      scope.postMessage({ id, failed: error.message });
    }
  };
}

/** @param {(answer: object) => void} answered
 * @returns {{send: (order: object) => void, end: () => void}} */
export function newThread(answered) {
  const parts = [
    additiveScores, alignmentError, batchOf, dotScores, firstWeights, heldOutOf, mostLikely, maskedSoftmax, meanOf,
    mixed, need, newAdam, newLearner, newLesson, newTape, newTask, randomNumbers, SCORES, serveLesson, shownOf, sigmoid, softmaxOf,
  ];
  const constants = Object.entries({ PAD, BOS, EOS, FIRST, BATCH, HELD_OUT, LAYERS }).map(([name, value]) => `const ${name} = ${value};`);
  const text = [...constants, ...parts.map((part) => `const ${part.name} = ${part};`), "serveLesson(self);"].join("\n");
  try {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const worker = new Worker(url);
    worker.onmessage = ({ data }) => answered(data);
    worker.onerror = (event) => answered({ failed: event.message || "its thread could not be started" });
    return { send: (order) => worker.postMessage(order), end: () => { worker.terminate(); URL.revokeObjectURL(url); } };
  } catch {
    // A page that allows no thread: the same in the page itself, between two frames.
    const scope = { postMessage: answered };
    serveLesson(scope);
    return { send: (order) => setTimeout(() => scope.onmessage({ data: order })), end() { scope.postMessage = () => {}; } };
  }
}
