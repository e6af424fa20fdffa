import { button, field, menu, row, slider, tick } from "../../../figures/static/controls.js";
import { fixed, html, set, setText } from "../../../figures/static/dom.js";
import { change, liveFigure } from "../../../figures/static/figure.js";
import { heat } from "../../../figures/static/heat.js";
import { learningCurves } from "./learning_curves.js";
import { heldOutOf, shownOf } from "./lesson.js";
import { newTask } from "./toy_tasks.js";
import { newTraining, SPEEDS } from "./training.js";

// One or two models learn a task while the reader watches where they look.

const NARROW = 500; // px of a screen that gets a smaller model
const SMALL = 16; // its width
const FOREVER = 100_000; // steps
const ENOUGH = 0.95; // of the unseen sentences: then a model can do its task
const ROWS = 40; // about as many looks are in the table
const BESIDE = 60; // px that the names of a grid take
const CELLS = [8, 24]; // px of a cell
const HIGH = 162; // px that all rows of a grid may take, for sentences of any length

function render({ model, el: root }) {
  const small = Math.min(screen.width, screen.height) < NARROW;
  const known = model.get("known_models"), tasks = model.get("known_tasks");
  const widthNow = () => (small ? Math.min(model.get("width"), SMALL) : model.get("width"));
  let show = () => {}, begunWith = "", last = {};
  const training = newTraining({ moved: () => show(), rested: tell });
  /** Another thing to learn: everything begins anew, and waits. */
  const anew = (traits) => change(model, { ...traits, until: 0, at: -1 });

  const task = menu("task", Object.keys(tasks).map((name) => [name, name]), (name) => anew({ task: name }));
  const names = Object.entries(known).map(([name, { title }]) => [name, title]);
  const first = menu("model", names, (name) => anew({ models: [name, ...model.get("models").slice(1)] }));
  const second = menu("beside", [["", "nothing"], ...names], (name) =>
    anew({ models: [model.get("models")[0], ...(name ? [name] : [])] }));
  const longest = slider("letters", { min: 4, max: 12, step: 1 }, (n) => anew({ longest: n }));
  const train = button("▶ Train", () => (training.running() ? pause() : go(FOREVER)));
  train.classList.add("lr-go");
  const one = button("1 step", () => go(training.steps() + 1));
  const ten = button("10 steps", () => go(training.steps() + 10));
  const reset = button("Reset", () => {
    begunWith = "";
    anew({ shown: (model.get("shown") ?? 0) + 1 });
  });
  const speed = menu("speed", Object.keys(SPEEDS).map((name) => [name, name]), (name) => { training.pace(name); speed.show(name); });
  const rate = slider("learning rate", { min: -4, max: -1, step: 0.1 }, (x) => change(model, { rate: Number((10 ** x).toPrecision(2)) }));
  const width = slider("width", { min: 8, max: 64, step: 8 }, (n) => anew({ width: n }));
  const seed = slider("seed", { min: 0, max: 20, step: 1 }, (n) => anew({ seed: n }));
  const mask = tick("mask padding", (on) => change(model, { mask: on }));
  const past = slider("look back", { min: 0, max: 1, step: 1 }, (n) => change(model, { at: n >= training.looks() - 1 ? -1 : n }));
  const own = field("your own", { maxlength: 24, dir: "auto" }, (text) => change(model, { sentence: text }));
  const grids = [0, 1].map((n) => {
    const title = html("p", { class: "lr-title" }), wrote = html("p", { class: "lr-wrote", dir: "ltr" });
    const grid = heat({ name: `weights of model ${n + 1}`, rowTitle: "writes", columnTitle: "looks at", pick: (at) => change(model, { row: at }) });
    const none = html("p", { class: "lr-blind attn-hint" }, "It never looks back: one vector is all it has of the sentence.");
    return { title, wrote, grid, none, element: html("div", { class: `lr-model lr-model-${n}` }, title, wrote, grid.element, none) };
  });
  const right = learningCurves({ title: "right, of unseen", top: 1, digits: 0 });
  const losses = learningCurves({ title: "loss, nats a token", top: 4, digits: 0 });
  const settings = html("details", { class: "lr-settings lr-more" }, html("summary", {}, "Settings"),
    html("div", { class: "lr-sliders" }, rate.element, width.element, seed.element, mask.element));
  const view = html("div", { class: "lr-view" },
    html("div", { class: "lr-charts" }, right.element, losses.element), ...grids.map(({ element }) => element));
  speed.show("full");

  function go(steps) {
    change(model, { until: steps, at: -1 });
  }
  function pause() {
    change(model, { until: training.steps() });
  }
  /** What Python may want to know, once the models rest. */
  function tell() {
    change(model, {
      history: training.lessons().map(({ looks, losses: loss }, n) => ({
        model: model.get("models")[n], loss, step: looks.map(({ step }) => step),
        right: looks.map((look) => look.right), error: looks.map((look) => look.error),
      })),
      parameters: training.lessons().map(({ parameters }) => plain(parameters)),
    });
  }
  const typed = () => (model.get("sentence") ? [...model.get("sentence").toLowerCase()] : null);

  const aim = () => tasks[model.get("task")].replace("{n}", model.get("longest"));

  /** Let the training be about what the model of the page holds. */
  function follow() {
    const lasting = { task: model.get("task"), longest: model.get("longest"), width: widthNow(), seed: model.get("seed") };
    const models = model.get("models"), key = JSON.stringify([lasting, models]);
    const now = { rate: model.get("rate"), mask: model.get("mask"), sentence: typed() };
    if (key !== begunWith) {
      begunWith = key;
      if (model.get("history").length) change(model, { history: [], parameters: [] });
      training.begin(models.map((name) => ({ ...lasting, ...now, kind: known[name] })));
    } else if (JSON.stringify(now) !== JSON.stringify(last)) {
      training.change(now);
    }
    last = now;
    training.reach(model.get("until"));
  }

  function draw() {
    // All sizes are read before anything is written: the browser would lay out anew for each.
    const [wide, ...room] = [right, ...grids].map(({ element }) => element.clientWidth || 300);
    follow();
    const models = model.get("models"), length = model.get("longest");
    task.show(model.get("task"));
    first.show(models[0]);
    second.show(models[1] ?? "");
    rate.show(Math.log10(model.get("rate")), String(model.get("rate")));
    longest.show(length, aim().includes(length) ? `up to ${length}` : "as it is");
    set(longest.input, { disabled: !aim().includes(length) });
    width.show(widthNow(), String(widthNow()));
    seed.show(model.get("seed"), String(model.get("seed")));
    mask.show(model.get("mask"));
    setText(train, training.running() ? "⏸ Pause" : "▶ Train");
    const lesson = newTask(model.get("task"), length);
    own.show(model.get("sentence"), typed() && !lesson.solve(typed()) ? "No sentence of this task: shown is one of its own." : "");
    const failed = training.lessons().find((one_) => one_.failed);
    if (failed) return `The models stopped: ${failed.failed}.`;

    const count = training.looks(), at = model.get("at") < 0 ? count - 1 : Math.min(model.get("at"), count - 1);
    const looks = count ? training.lessons().map((one_) => one_.looks[at]) : models.map(() => before(lesson));
    view.classList.toggle("lr-alone", models.length === 1);
    set(past.input, { max: Math.max(1, count - 1), disabled: count < 2 });
    past.show(Math.max(at, 0), `step ${looks[0].step}`);
    grids.forEach(({ element, title, wrote, grid, none }, n) => {
      element.hidden = n >= models.length;
      if (element.hidden) return;
      const look = looks[n], blind = !known[models[n]].score;
      setText(title, known[models[n]].title);
      const text = look.written?.join("").replace(/end$/, "");
      setText(wrote, `${look.source.join("")} → ${text ?? "?"} ${text === undefined ? "" : text === look.target.join("") ? "✓" : "✗"}`);
      grid.element.hidden = blind;
      none.hidden = !blind;
      if (blind) return;
      const rows = look.written ?? look.target, columns = look.source;
      const size = Math.min((room[n] - BESIDE) / columns.length, HIGH / rows.length);
      look.marks ??= (look.gold ?? []).filter(([i]) => i < rows.length); // it may have written less than it should
      grid.draw({
        rows, columns, weights: look.weights ?? rows.map(() => columns.map(() => 0)), row: Math.min(model.get("row"), rows.length - 1),
        gold: look.marks, largest: Math.floor(Math.min(CELLS[1], Math.max(CELLS[0], size))),
      });
    });
    right.draw(training.lessons().map(({ looks: all }) => all.map(({ step, right: value }) => ({ step, value }))), looks[0].step, wide);
    losses.draw(training.lessons().map(({ losses: all }) => thinned(all)), looks[0].step, wide);
    return inWords(looks);
  }

  /** What is to be seen before anything was learned. */
  function before(lesson) {
    const { source, target, gold } = shownOf(lesson, heldOutOf(lesson, model.get("seed")), typed());
    return { step: 0, source, target, gold, written: null, weights: null };
  }

  /** What is seen, in one sentence or two. */
  function inWords(looks) {
    const titles = model.get("models").map((name) => known[name].title);
    const smaller = small && model.get("width") > SMALL ? " A smaller model, for a small screen." : "";
    if (!looks[0].written) {
      return `Nothing is learned yet: ${titles.join(" and ")} will learn to ${aim()}.${smaller}`;
    }
    const parts = looks.map(({ right: share, error }, n) => `${titles[n]} ${n ? "" : "writes "}${fixed(100 * share, 0)} %${
      n ? "" : " of unseen sentences right"}${error === null ? "" : ` (alignment error ${fixed(error, 2)})`}`);
    return `After ${looks[0].step} steps, ${parts.join(", ")}.${race(looks[0].step, titles)}${smaller}`;
  }
  /** Who can do the task, and since when. */
  function race(step, titles) {
    const since = training.lessons().map(({ looks }) => looks.find((look) => look.step <= step && look.right >= ENOUGH)?.step ?? Infinity);
    const best = Math.min(...since);
    if (best === Infinity) return "";
    if (since.length === 1) return ` It can since step ${best}.`;
    if (since[0] === since[1]) return ` Both can since step ${best}.`;
    const other = since[1 - since.indexOf(best)];
    return ` First to 95 %: ${titles[since.indexOf(best)]}, at step ${best}; the other ${other === Infinity ? "not yet" : `at ${other}`}.`;
  }
  function longestSentence() {
    const titles = model.get("models").map((name) => known[name].title);
    return `After 1000 steps, ${titles.map((title) => `${title} 100 % (alignment error 0.00)`).join(", ")} writes of unseen sentences right. First to 95 %: ${
      titles[0]}, at step 1000; the other at 1000.${small ? " A smaller model, for a small screen." : ""}`;
  }

  function numbers() {
    const count = training.looks(), every = Math.ceil(count / ROWS) || 1, models = model.get("models");
    const kept = [...Array(count).keys()].filter((k) => (count - 1 - k) % every === 0);
    const cells = ({ step, right: share, error }, n) =>
      [`${step}`, known[models[n]].title, fixed(share, 2), error === null ? "none" : fixed(error, 2)];
    const rows = kept.flatMap((k) => training.lessons().map(({ looks }, n) => cells(looks[k], n)));
    const size = `To ${aim()}: width ${widthNow()}, rate ${model.get("rate")}, seed ${model.get("seed")}`;
    return {
      caption: every === 1 ? size : `${size}; one look in ${every}`, head: ["step", "model", "right", "alignment error"],
      rows: rows.length ? rows : models.map((name) => ["0", known[name].title, "not asked", "not asked"]),
    };
  }

  const hidden = () => { if (document.hidden && training.running()) pause(); };
  document.addEventListener("visibilitychange", hidden);
  // A page may become narrower, and what was drawn for a wide one would be cut.
  let drawnFor = 0;
  const resized = new ResizeObserver(() => {
    if (drawnFor && view.clientWidth !== drawnFor) show();
    drawnFor = view.clientWidth;
  });
  root.classList.toggle("lr-small", model.get("small"));
  const end = liveFigure({
    model, root, kind: "lr", title: "models that learn a task", draw, numbers, sentences: () => [longestSentence()],
    watch: ["task", "models", "longest", "width", "seed", "rate", "mask", "sentence", "at", "row", "until", "shown"],
    parts: [
      html("div", { class: "lr-what lr-more" }, task.element, longest.element, first.element, second.element),
      row(train, one, ten, reset, speed.element), view,
      html("div", { class: "lr-two lr-more" }, past.element, own.element), settings,
    ],
    end() {
      document.removeEventListener("visibilitychange", hidden);
      resized.disconnect();
      training.end();
    },
  });
  show = () => model.set("shown", (model.get("shown") ?? 0) + 1);
  resized.observe(view);
  return end;
}

/** As many points as a line needs. */
function thinned(all) {
  const every = Math.ceil(all.length / 200) || 1;
  return all.map((value, step) => ({ step, value })).filter(({ step }) => step % every === 0);
}

/** Parameters as `attnlib.course.figures` loads them: shapes and numbers, each with the digits of a float32. */
function plain(parameters) {
  return Object.fromEntries(Object.entries(parameters).map(([name, { rows, columns, data }]) =>
    [name, { shape: columns === 1 ? [rows] : [rows, columns], data: Array.from(data, (x) => Number(x.toPrecision(9))) }]));
}

export default { render };
