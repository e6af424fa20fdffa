import { mapOf, most, onGold, total, unpacked } from "./alignment.js";
import { bipartite, linesWidth } from "./bipartite.js";
import { menu, player, row, slider, tick } from "./controls.js";
import { fixed, html, setText } from "./dom.js";
import { change, liveFigure } from "./figure.js";
import { heat, lengthOf } from "./heat.js";

// Where each of some models looked, step by step: a panel per model, one step for all.

const MOVING = ["step", "model", "layer", "head", "view", "show_gold"];
const SMALLEST = 15, BESIDE = 13, GAP = 32; // px: of a cell; of a cell if two grids then fit side by side; between them
const HIGH = 270, HEAD = 100; // px that the rows of grids below each other have, and what stands above each of them
const UNEVEN = 0.01; // a row whose sum is further from 1 says so; bfloat16 is that exact
const HINT = "Point at a cell or at a word.";
const PATIENCE = 600; // ms in which a running kernel has answered

function render({ model, el: root }) {
  const given = model.get("panels");
  const [layers, heads] = given[0].shape;
  const steps = Math.max(...given.map(({ target }) => target.length));
  const several = given.length > 1, linked = given.some(({ gold }) => gold.length);
  const go = (step) => change(model, { step });
  const cell = html("p", { class: "attn-hint av-cell", "aria-hidden": "true" }, HINT);
  const missing = html("p", { class: "av-missing", role: "status", hidden: true });

  const view = menu("show", [["grid", "grid"], ["lines", "lines"], ["both", "grid and lines"]],
    (name) => change(model, { view: name }));
  const who = menu("model", [["", "all"], ...given.map(({ name }) => [name, name])],
    (name) => change(model, { model: name }));
  const layer = menu("layer", numbered(layers), (n) => change(model, { layer: Number(n) }));
  const head = menu("head", [["mean", `mean of ${heads}`], ...numbered(heads)],
    (n) => change(model, { head: n === "mean" ? n : Number(n) }));
  const gold = tick("gold links", (on) => change(model, { show_gold: on }));
  const step = slider("step", { min: 1, max: steps, step: 1 }, (n) => go(n - 1));
  const play = player({ label: "step", at: () => model.get("step"), count: () => steps, go, brief: true });

  const hover = { step: -1, place: -1, name: null }; // what the pointer is over: shown in all panels, and taken back
  const panels = given.map((packed, n) => panel(packed, n, { go, several, cell, hover, redraw: () => paint(), count: () => chosen().length }));
  const chosen = () => panels.filter(({ name }) => !model.get("model") || name === model.get("model"));
  let room = Infinity; // px
  // Many weights come map by map, when they are chosen: what is drawn are the layer and head that were sent last.
  const state = () => ({ room, ...Object.fromEntries(MOVING.map((name) => [name, model.get(name)])), ...model.get("sent") });
  const paint = () => chosen().forEach((one) => one.draw(state()));

  const body = html("div", { class: "av-panels" }, ...panels.map(({ element }) => element));
  const width = new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width === 0 || contentRect.width === room) return;
    room = contentRect.width;
    requestAnimationFrame(paint); // not within the observer: it would observe itself
  });
  width.observe(body);

  let patience;
  function sayWhatIsMissing(now) {
    clearTimeout(patience);
    const wanted = { layer: model.get("layer"), head: model.get("head") };
    const here = now.layer === wanted.layer && now.head === wanted.head;
    if (here) missing.hidden = true;
    else patience = setTimeout(() => {
      setText(missing, `The weights of ${named(wanted)} are not in this page, only a running kernel has them. `
        + `Still shown: ${named(now)}.`);
      missing.hidden = false;
    }, PATIENCE);
  }

  function draw() {
    const now = state();
    sayWhatIsMissing(now);
    view.show(now.view);
    who.show(now.model);
    layer.show(model.get("layer"));
    head.show(model.get("head"));
    gold.show(now.show_gold);
    const words = [...new Set(chosen().map(({ target }) => target[now.step]).filter((word) => word !== undefined))];
    step.show(now.step + 1, `${now.step + 1} of ${steps}`);
    const said = words.map((word) => `“${word}”`).join(", ");
    step.input.setAttribute("aria-valuetext", `${now.step + 1} of ${steps}: ${said}`);
    play.show();
    for (const one of panels) one.element.hidden = !chosen().includes(one);
    paint();
    return inWords(chosen(), now);
  }
  let every = { of: null, said: [] }; // the sentences of all steps, of the maps that are seen
  function sentences() {
    const now = state(), of = JSON.stringify([now.model, now.layer, now.head]);
    if (every.of !== of) every = { of, said: Array.from({ length: steps }, (_, n) => inWords(chosen(), { ...now, step: n })) };
    return every.said;
  }
  function end() {
    clearTimeout(patience);
    play.stop();
    width.disconnect();
  }
  return liveFigure({
    model, root, kind: "av", title: "where each target word looks in the source", watch: [...MOVING, "sent"], draw, sentences,
    numbers: () => numbersOf(chosen(), state()), end,
    parts: [
      row(view.element, ...(several ? [who.element] : []), ...(layers > 1 ? [layer.element] : []),
        ...(heads > 1 ? [head.element] : []), ...(linked ? [gold.element] : [])),
      ...(steps > 1 ? [row(step.element, play.element)] : []),
      missing, body, cell,
    ],
  });
}

const numbered = (count) => Array.from({ length: count }, (_, n) => [String(n), String(n)]);
const named = ({ layer, head }) => `layer ${layer}, ${head === "mean" ? "the mean of its heads" : `head ${head}`}`;

/** One model: its name, what it makes of the gold links, its grid and its lines. */
function panel(packed, n, { go, several, cell, hover, redraw, count }) {
  const { name, source, target, shape, gold } = packed;
  const all = packed.data && unpacked(packed), none = [];
  let known = null;

  /** The weights of the chosen head, and what they make of the gold links: computed once for each head. */
  function seen({ layer, head, maps }) {
    if (known?.layer !== layer || known.head !== head) {
      const one = [1, 1, ...shape.slice(2)];
      const weights = maps ? mapOf(unpacked({ shape: one, data: maps[n] }), one, 0, 0) : mapOf(all, shape, layer, head);
      known = { layer, head, weights, right: onGold(weights, gold) };
    }
    return known;
  }
  function point(step, place) {
    if (hover.step === step && hover.place === place && hover.name === name) return;
    Object.assign(hover, { step, place, name });
    setText(cell, place < 0 ? HINT : step < 0
      ? `${which(source, place)} is looked at ${fixed(total(known.weights.map((row) => row[place])))} in all`
      : `“${target[step]}” looks at ${which(source, place)}: ${fixed(known.weights[step][place], 3)}`);
    redraw();
  }
  const pick = (step) => {
    Object.assign(hover, { step: -1, place: -1 });
    go(step);
  };
  const grid = heat({ name: name || "weights", rowTitle: "target", columnTitle: "source", pick, point });
  const lines = bipartite({ name: name || "weights", pick, point });
  const note = html("p", { class: "av-note" });
  const element = html("div", { class: "av-panel" },
    ...(name ? [html("p", { class: "av-title" }, name)] : []), note,
    html("div", { class: "av-drawings" }, grid.element, lines.element));

  /** The cell that lets the grid fit, beside the next one or its lines where there is room for that. */
  function largest(room, view) {
    const names = lengthOf(target) + 34 + (lengthOf(source) > 15 ? 0.72 * lengthOf(source) : 0);
    const fitting = (width) => Math.floor((width - names) / source.length);
    const beside = several ? fitting((room - GAP) / 2) : view === "both" ? fitting(room - GAP - linesWidth(source, target)) : 0;
    const side = beside >= BESIDE, below = Math.ceil(count() / (side && several ? 2 : 1));
    const high = Math.floor((HIGH - HEAD * (below - 1)) / below / target.length);
    return Math.max(side ? BESIDE : SMALLEST, Math.min(high, side ? beside : fitting(room)));
  }

  function draw(now) {
    const { step, view, show_gold: showGold, room } = now;
    const { weights, right } = seen(now);
    const wanted = hover.step >= 0 ? hover.step : step;
    const at = wanted < target.length ? wanted : -1;
    const drawn = showGold ? gold : none;
    note.hidden = !(right && showGold);
    setText(note, note.hidden ? ""
      : `gold links: ${fixed(right.share)} of the weight, most in ${right.hits} of ${right.rows} rows`);
    grid.element.hidden = view === "lines";
    lines.element.hidden = view === "grid";
    if (view !== "lines") {
      grid.draw({ rows: target, columns: source, weights, row: at, gold: drawn, largest: largest(room, view) });
    }
    if (view !== "grid") {
      const place = hover.step < 0 && hover.name === name ? hover.place : -1;
      lines.draw({ source, target, weights, step: at, place, gold: drawn });
    }
  }
  return { name, source, target, gold, element, seen, draw };
}

/** What the chosen step looks at, in one sentence. */
function inWords(panels, now) {
  const writing = panels.filter(({ target }) => now.step < target.length);
  const words = new Set(writing.map(({ target }) => target[now.step]));
  const said = writing.map((one) => {
    const weights = one.seen(now).weights[now.step], best = most(weights), sum = total(weights);
    const who = words.size > 1 ? `${one.name}: “${one.target[now.step]}”` : one.name;
    const where = best < 0 ? "looks at nothing" : `looks most at ${which(one.source, best)}, ${fixed(weights[best])}`;
    const uneven = best >= 0 && Math.abs(sum - 1) > UNEVEN ? ` (its row adds up to ${fixed(sum)})` : "";
    return `${who} ${where}${uneven}`.trim();
  });
  if (said.length === 0) return `Step ${now.step + 1}: nothing is written any more.`;
  const [word] = words;
  const head = words.size > 1 ? ":" : writing[0].name ? `, “${word}”:` : `: “${word}”`;
  return `Step ${now.step + 1}${head} ${said.join("; ")}.`;
}

/** A word, with its place if it stands there twice. */
function which(words, j) {
  const twice = words.indexOf(words[j]) !== words.lastIndexOf(words[j]);
  return `“${words[j]}”${twice ? ` (place ${j + 1})` : ""}`;
}

/** The weights of the chosen step: a row per source word, a column per model. */
function numbersOf(panels, now) {
  const shown = panels.filter(({ target }) => now.step < target.length);
  const longest = Math.max(0, ...shown.map(({ source }) => source.length));
  const alike = shown.every(({ source }) => source.join("\n") === shown[0].source.join("\n"));
  return {
    caption: `weights of step ${now.step + 1}${shown.length ? `, “${shown[0].target[now.step]}”` : ""}`,
    head: ["source", ...shown.map(({ name }) => name || "weight")],
    rows: Array.from({ length: longest }, (_, j) => [
      alike ? `${j + 1} “${shown[0].source[j]}”` : `${j + 1}`,
      ...shown.map((one) => {
        const word = one.source[j];
        if (word === undefined) return "";
        const isGold = now.show_gold && one.gold.some(([i, k]) => i === now.step && k === j);
        return `${alike ? "" : `“${word}” `}${fixed(one.seen(now).weights[now.step][j], 3)}${isGold ? " gold" : ""}`;
      }),
    ]),
  };
}

export default { render };
