import { firstWeights } from "./first_weights.js";
import { newLearner } from "./learner.js";
import { batchOf, BOS, EOS, FIRST, newTask, randomNumbers } from "./toy_tasks.js";

// One model that learns one task: batches, what it can do on sentences it has never seen, and what it writes for one.

export const BATCH = 32; // sentences
export const HELD_OUT = 64; // sentences

/** Sentences that are never learned from. */
export function heldOutOf(task, seed) {
  const apart = randomNumbers(2 * seed + 0x40000001);
  return Array.from({ length: HELD_OUT }, () => task.draw(apart));
}

/** What a model is asked to write: somebody's own tokens, or the first held-out sentence that is longer than most. */
export function shownOf(task, heldOut, tokens) {
  const lengths = heldOut.map(({ source }) => source.length).sort((a, b) => a - b);
  return (tokens && task.solve(tokens)) || heldOut.find(({ source }) => source.length === lengths[Math.floor(0.7 * HELD_OUT)]);
}

/** @param {object} settings task, longest, width, kind: as `newLearner` takes it, rate, mask, seed, sentence: tokens or null
 * @returns a lesson: learn() makes one step; look() says how far it is */
export function newLesson({ task: name, longest, width, kind, rate, mask, seed, sentence }) {
  const task = newTask(name, longest), { symbols } = task;
  const drawn = randomNumbers(2 * seed + 1);
  const heldOut = heldOutOf(task, seed);
  const known = new Set(heldOut.map(({ source }) => source.join("\n")));
  const fresh = () => {
    for (;;) {
      const example = task.draw(drawn);
      if (!known.has(example.source.join("\n"))) return example;
    }
  };
  const weights = firstWeights(kind, { vocabulary: FIRST + symbols.length, width }, randomNumbers(seed));
  const learner = newLearner(kind, weights);
  learner.mask(mask);
  let step = 0, shown = shownOf(task, heldOut, sentence);

  function learn() {
    step += 1;
    return learner.learn(batchOf(Array.from({ length: BATCH }, fresh), symbols), rate);
  }

  /** @returns {{step: number, right: number, error: ?number, source: string[], written: string[], weights: ?number[][],
   *   target: string[], gold: ?number[][]}} right: share of held-out sentences without a mistake; error: the alignment
   *   error rate of the largest weights, where links are known */
  function look() {
    const examples = [...heldOut, shown], { source, lengths } = batchOf(examples, symbols);
    const most = Math.max(...examples.map(({ target }) => target.length)) + 1;
    const written = learner.write(source, lengths, { bos: BOS, eos: EOS, longest: most });
    const words = written.map(({ tokens }) => tokens.map((id) => symbols[id - FIRST] ?? "?"));
    const right = heldOut.filter(({ target }, n) => target.join("\n") === words[n].join("\n")).length / HELD_OUT;
    const last = written.at(-1), S = shown.source.length;
    return {
      step, right, error: alignmentError(heldOut, written, lengths), source: shown.source, target: shown.target, gold: shown.gold,
      written: [...words.at(-1), ...(last.weights && last.weights.length > last.tokens.length ? ["end"] : [])],
      weights: last.weights?.map((row) => row.slice(0, S)) ?? null,
    };
  }

  return {
    learn, look,
    /** Go on with another rate, with or without the mask, and with another sentence to be asked for. */
    set(changed) {
      rate = changed.rate;
      learner.mask(changed.mask);
      shown = shownOf(task, heldOut, changed.sentence);
    },
    parameters: () => learner.parameters,
  };
}

/** 1 − 2 |A ∩ G| / (|A| + |G|): A links each written token to where its weight is largest, G are the known links. */
export function alignmentError(examples, written, lengths) {
  let both = 0, all = 0;
  examples.forEach(({ gold }, n) => {
    if (!gold || !written[n].weights) return;
    const links = written[n].tokens.map((_, i) => {
      const row = written[n].weights[i];
      return row.indexOf(Math.max(...row));
    });
    both += gold.filter(([i, j]) => links[i] === j).length;
    all += gold.length + links.length;
  });
  return all ? 1 - (2 * both) / all : null;
}
