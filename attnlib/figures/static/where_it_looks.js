import { choices } from "./choices.js";
import { button, player, row, tick } from "./controls.js";
import { fixed, html } from "./dom.js";
import { change, liveFigure, visible } from "./figure.js";
import { paint, stage, tintedImage } from "./looks.js";
import { inBox, regionName, strongest } from "./regions.js";

// Where each word of a caption looks: images to choose from, one of them large under the weights of the chosen
// word, the caption with a small picture for every word, and what another model says without looking.

function render({ model, el: root }) {
  const images = model.get("images"), captions = model.get("captions");
  const words = () => captions[model.get("scene")];
  const step = () => Math.min(model.get("step"), words().length - 1);
  const named = (n) => `image ${n + 1}${model.get("truth").length ? `: ${model.get("truth")[n].join(" ")}` : ""}`;

  const scenes = choices({ name: "image", kind: "wl-scenes", pick: (n) => {
    play.stop();
    change(model, { scene: n, step: Math.min(step(), captions[n].length - 1) });
  } });
  scenes.fill(images.map((source, n) => {
    const picture = tintedImage("wl-thumb");
    picture.show(source, model.get("sizes")[n]);
    return { name: named(n), parts: [picture.element] };
  }));
  const caption = choices({ name: "word of the caption", kind: "wl-words", pick: (n) => {
    play.stop();
    go(n);
  } });
  const go = (n) => change(model, { step: n });
  const play = player({ label: "word", at: step, count: () => words().length, go, brief: true });
  function turn(by) { // after the last word comes the first, so that neither button is ever dead
    play.stop();
    go((step() + by + words().length) % words().length);
  }
  const back = button("◀", () => turn(-1), "word before");
  const on = button("▶|", () => turn(1), "next word");
  const smooth = tick("smooth", (on) => change(model, { smooth: on }));
  const outlines = tick("box of the thing", (on) => change(model, { show_boxes: on }));
  const large = stage();
  const verdict = html("p", { class: "wl-verdict" });
  const others = html("div", { class: "wl-others" });
  let built = null, painted = null; // the scene whose words stand there, and how their small pictures are tinted
  let small = [];

  function build(scene) {
    const source = images[scene], size = model.get("sizes")[scene];
    const wrong = model.get("wrong")[scene] ?? [];
    small = words().map(() => tintedImage("wl-small"));
    caption.fill(words().map((word, n) => {
      small[n].show(source, size);
      return { name: word, parts: [small[n].element, judged(word, wrong[n])] };
    }));
    verdict.hidden = !model.get("truth").length;
    verdict.replaceChildren(html("span", { class: "wl-who" }, "with attention: "),
      verdictOn(words(), wrong, model.get("truth")[scene]));
    const line = (who, said, judgement, end) => html("p", { class: "wl-line" },
      html("span", { class: "wl-who" }, who), " ",
      html("bdi", {}, ...said.flatMap((word, n) => [judged(word, judgement[n]), " "])), end && `(${end})`);
    const [other, truth] = [model.get("static")[scene], model.get("truth")[scene]];
    const judgement = model.get("static_wrong")[scene] ?? [];
    others.replaceChildren(
      ...(other ? [line("one vector, no looking:", other, judgement, verdictOn(other, judgement, truth))] : []),
      ...(truth ? [line("true caption:", truth, [], "")] : []));
    built = scene;
    painted = null;
  }

  function draw() {
    const scene = model.get("scene"), at = step();
    const grid = model.get("grid"), colour = model.get("tint"), isSmooth = model.get("smooth");
    const weights = model.get("weights")[scene][at], size = model.get("sizes")[scene];
    const box = model.get("show_boxes") ? model.get("boxes")[scene]?.[at] ?? null : null;
    if (built !== scene) build(scene);
    if (painted !== isSmooth) {
      small.forEach(({ canvas }, n) => paint(canvas, model.get("weights")[scene][n], grid, isSmooth, colour, "small"));
      painted = isSmooth;
    }
    const description = named(scene);
    large.draw({ source: images[scene], size, description, weights, grid, smooth: isSmooth, colour, box });
    const where = lookedAt(weights, grid[1]);
    const flaw = model.get("wrong")[scene]?.[at] ? ", a wrong word" : "";
    scenes.show(scene, description);
    caption.show(at, `${at + 1} of ${words().length}: “${words()[at]}”${flaw}, ${where}`);
    smooth.show(isSmooth);
    outlines.show(model.get("show_boxes"));
    play.show();
    return `“${visible(words()[at])}” ${where}.${model.get("show_boxes") ? inBoxWords(weights, box, grid, size) : ""}`;
  }

  function numbers() {
    const [rows, columns] = model.get("grid");
    const weights = model.get("weights")[model.get("scene")][step()];
    const range = (n) => Array.from({ length: n }, (_, i) => i);
    return {
      caption: `weight of each region for “${visible(words()[step()])}”`,
      head: ["regions", ...range(columns).map((j) => `column ${j + 1}`)],
      rows: range(rows).map((i) => [`row ${i + 1}`, ...range(columns).map((j) => fixed(weights[i * columns + j], 3))]),
    };
  }
  return liveFigure({
    model, root, kind: "wl", title: "where each word of a caption looks in the image", draw, numbers,
    watch: ["scene", "step", "smooth", "show_boxes"], end: play.stop,
    parts: [
      ...(images.length > 1 ? [scenes.element] : []),
      html("div", { class: "wl-body" }, large.element,
        html("div", { class: "wl-side" }, caption.element, verdict,
          row(html("div", { class: "wl-steps" }, back, play.element, on), smooth.element,
            ...(model.get("boxes").length ? [outlines.element] : [])), others)),
    ],
  });
}

/** A word, and that it is wrong, by a sign, a line and for those who only hear it. */
function judged(word, wrong) {
  const text = html("span", { class: wrong ? "wl-word wl-wrong" : "wl-word" }, visible(word));
  if (!wrong) return text;
  const sign = html("span", { class: "wl-sign", "aria-hidden": "true" }, "✗");
  return html("span", {}, sign, text, html("span", { class: "wl-heard" }, " (wrong)"));
}

/** What is right or wrong with a caption, in words. Nothing without a true one. */
function verdictOn(words, wrong, truth) {
  if (!truth) return "";
  const count = wrong.filter(Boolean).length, missing = truth.length - (words.length - count);
  if (count === 0 && missing === 0) return "✓ every word right";
  if (count > 0) return `${count} of ${words.length} words wrong`;
  return `${missing} ${missing > 1 ? "words" : "word"} missing`;
}

/** Where a word looks, in words. */
function lookedAt(weights, columns) {
  const [top] = strongest(weights, 1);
  return top === undefined ? "looks at nothing" : `looks most at ${regionName(top, columns)}: ${fixed(weights[top])}`;
}

/** Whether that is where the thing is. */
function inBoxWords(weights, box, grid, size) {
  const [top] = strongest(weights, 1);
  if (!box || top === undefined) return " It names no thing that has a box.";
  const inside = inBox(box, grid, size);
  const share = weights.reduce((sum, weight, m) => sum + (inside[m] ? weight : 0), 0);
  const hit = inside[top] ? "inside" : "outside";
  return ` The centre of that region is ${hit} the box; the regions inside it get ${fixed(share)}.`;
}

export default { render };
