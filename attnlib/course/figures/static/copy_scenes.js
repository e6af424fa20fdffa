import { wordsOf } from "./copier.js";

// What a copier writes of the text, under the gate that the model holds.

/** What the model writes now, computed again only where something has changed.
 * @returns {() => {words: string[], source: object, alone: object[], steps: object[], chosen: number,
 *   ends: {steps: object[][]}}} ends: what is written with the gate closed, and with it open */
export function scenes(network, model) {
  const most = model.get("max_length"), longest = model.get("longest");
  let text = null, key = null, scene = null;
  return () => {
    if (text !== model.get("text")) {
      [text, key] = [model.get("text"), null];
      const words = wordsOf(text);
      const source = words.length === 0 || words.length > longest ? null : network.read(words);
      scene = { words, source, alone: source && network.write(source, () => null, most), steps: null, chosen: 0 };
    }
    const [p, step, all] = [model.get("p_gen"), model.get("step"), model.get("everywhere")];
    const asked = p === null ? "alone" : `${p} ${all || step}`;
    if (scene.source && asked !== key) {
      scene.steps = p === null ? scene.alone : network.write(scene.source, (i) => (all || i === step ? p : null), most);
      key = asked;
    }
    if (!scene.source) return scene;
    scene.chosen = Math.min(step, scene.steps.length - 1);
    if (scene.ends?.of !== (all || step)) {
      const at = (end) => network.write(scene.source, (i) => (all || i === step ? end : null), most);
      scene.ends = { of: all || step, steps: [at(0), at(1)] };
    }
    return scene;
  };
}
