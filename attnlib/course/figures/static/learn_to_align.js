import { button, field, menu, row, slider, tick } from "../../../figures/static/controls.js";
import { fixed, html, set, setText } from "../../../figures/static/dom.js";
import { change, liveFigure } from "../../../figures/static/figure.js";
import { heat } from "../../../figures/static/heat.js";
import { learningCurves } from "./learning_curves.js";
import { newThread } from "./lesson_thread.js";
import { newTask } from "./toy_tasks.js";

// One or two models learn a task while the reader watches where they look.

const MODELS = {
  none: { title: "no attention", kind: { decoder: "initial_state", score: null } },
  additive: { title: "additive (Bahdanau)", kind: { decoder: "bahdanau", score: "additive" } },
  dot: { title: "dot (Luong)", kind: { decoder: "luong", score: "dot" } },
  "scaled dot": { title: "scaled dot (Luong)", kind: { decoder: "luong", score: "scaled_dot" } },
  general: { title: "general (Luong)", kind: { decoder: "luong", score: "general" } },
};
const TASKS = ["copy", "reverse", "sort", "look up", "dates"];
const AT_ONCE = 10; // steps between two looks
const SLOWLY = 400; // ms between two steps, where somebody wants to follow
const MOST = 400; // recorded looks: then every second one is dropped
const NARROW = 500; // px of a screen that gets a smaller model
const FRESH = ["task", "models", "longest", "width", "seed"]; // after whose change everything begins anew

function render({ model, el: root }) {
  const small = Math.min(screen.width, screen.height) < NARROW;
  let lessons = [], running = false, slow = false, left = 0, timer = null, generation = 0;
  const narrowed = () => (small ? Math.min(model.get("width"), 16) : model.get("width"));

  const task = menu("task", TASKS.map((name) => [name, name]), (name) => change(model, { task: name }));
  const names = Object.entries(MODELS).map(([name, { title }]) => [name, title]);
  const first = menu("model", names, (name) => change(model, { models: [name, ...model.get("models").slice(1)] }));
  const second = menu("beside", [["", "nothing"], ...names], (name) =>
    change(model, { models: [model.get("models")[0], ...(name ? [name] : [])] }));
  const train = button("▶ Train", () => (running ? pause() : run(Infinity)));
  const one = button("1 step", () => run(1)), ten = button("10 steps", () => run(10));
  const reset = button("Reset", () => begin());
  const pace = tick("slowly", (on) => { slow = on; pace.show(on); });
  const rate = slider("learning rate", { min: -4, max: -1, step: 0.1 }, (x) => change(model, { rate: Number((10 ** x).toPrecision(2)) }));
  const longest = slider("longest", { min: 4, max: 12, step: 1 }, (n) => change(model, { longest: n }));
  const width = slider("width", { min: 8, max: 64, step: 8 }, (n) => change(model, { width: n }));
  const seed = slider("seed", { min: 0, max: 20, step: 1 }, (n) => change(model, { seed: n }));
  const mask = tick("mask padding", (on) => change(model, { mask: on }));
  const past = slider("look back", { min: 0, max: 1, step: 1 }, (n) => change(model, { at: n === frames() - 1 ? -1 : n }));
  const own = field("your own", { maxlength: 24, dir: "auto" }, (text) => change(model, { sentence: text }));
  const grids = [0, 1].map((n) => {
    const title = html("p", { class: "lr-title" }), wrote = html("p", { class: "lr-wrote", dir: "ltr" });
    const grid = heat({ name: "weights", rowTitle: "writes", columnTitle: "looks at", pick() {} });
    return { title, wrote, grid, element: html("div", { class: `lr-model lr-model-${n}` }, title, wrote, grid.element) };
  });
  const right = learningCurves({ title: "right, of unseen sentences", top: 1, digits: 0 });
  const losses = learningCurves({ title: "loss, nats per token", top: 4, digits: 0 });
  const settings = html("details", { class: "lr-settings" }, html("summary", {}, "Settings"),
    html("div", { class: "lr-sliders" }, rate.element, longest.element, width.element, seed.element), mask.element);

  /** How many looks are recorded of every lesson. */
  const frames = () => Math.min(...lessons.map(({ looks }) => looks.length));

  function begin() {
    pause();
    generation += 1;
    lessons.forEach(({ thread }) => thread.end());
    lessons = model.get("models").map((name, n) => ({
      name, looks: [], losses: [], waiting: true, failed: null,
      thread: newThread((answer) => took(n, answer)),
    }));
    for (const { name, thread } of lessons) {
      thread.send({ id: generation, begin: {
        task: model.get("task"), longest: model.get("longest"), width: narrowed(), kind: MODELS[name].kind,
        rate: model.get("rate"), mask: model.get("mask"), seed: model.get("seed"), sentence: typed(),
      } });
    }
    change(model, { at: -1, history: [], parameters: [] });
  }
  const typed = () => (model.get("sentence") ? [...model.get("sentence").toLowerCase()] : null);

  function run(steps) {
    left = steps;
    running = steps === Infinity;
    next();
    label();
  }
  function pause() {
    running = false;
    left = 0;
    clearTimeout(timer);
    label();
  }
  function next() {
    clearTimeout(timer);
    if (left <= 0 || lessons.some(({ waiting }) => waiting)) return;
    const steps = Math.min(left, slow ? 1 : AT_ONCE);
    left -= steps;
    order({ steps, grown: left <= 0 });
  }
  function order(what) {
    for (const lesson of lessons) {
      lesson.waiting = true;
      lesson.thread.send({ id: generation, ...what });
    }
  }
  function took(n, { id, losses: fresh = [], look, parameters, failed }) {
    if (id !== undefined && id !== generation) return; // of a lesson that is over
    const lesson = lessons[n];
    lesson.waiting = false;
    if (failed) {
      lesson.failed ??= failed;
      pause();
    } else {
      const step = lesson.losses.length;
      fresh.forEach((value, k) => lesson.losses.push({ step: step + k, value }));
      if (lesson.looks.at(-1)?.step === look.step) lesson.looks.pop(); // the same moment, another sentence
      lesson.looks.push(look);
      if (lesson.looks.length > MOST) lesson.looks = lesson.looks.filter((_, k) => k % 2 === 0 || k === lesson.looks.length - 1);
      if (parameters) lesson.parameters = parameters;
    }
    if (lessons.some(({ waiting }) => waiting)) return;
    if (left > 0) timer = setTimeout(next, slow ? SLOWLY : 0);
    else tell();
    show();
  }
  /** What Python may want to know, once the models rest. */
  function tell() {
    change(model, {
      history: lessons.map(({ name, looks, losses: all }) => ({
        model: name, loss: all.map(({ value }) => value), step: looks.map(({ step }) => step),
        right: looks.map((look) => look.right), error: looks.map((look) => look.error),
      })),
      parameters: lessons.map(({ parameters }) => plain(parameters)),
    });
  }
  function label() {
    setText(train, running ? "⏸ Pause" : "▶ Train");
  }

  function draw() {
    const models = model.get("models");
    task.show(model.get("task"));
    first.show(models[0]);
    second.show(models[1] ?? "");
    rate.show(Math.log10(model.get("rate")), String(model.get("rate")));
    longest.show(model.get("longest"), `${model.get("longest")} letters`);
    width.show(narrowed(), String(narrowed()));
    seed.show(model.get("seed"), String(model.get("seed")));
    mask.show(model.get("mask"));
    const known = newTask(model.get("task"), model.get("longest"));
    own.show(model.get("sentence"), typed() && !known.solve(typed()) ? `No sentence of this task: shown is one of its own.` : "");
    const count = lessons.length ? frames() : 0;
    const failed = lessons.find((lesson) => lesson.failed);
    if (failed) return `The models stopped: ${failed.failed}.`;
    if (!count) return "The models are being made.";
    const at = model.get("at") < 0 ? count - 1 : Math.min(model.get("at"), count - 1);
    const looks = lessons.map((lesson) => lesson.looks[at]);
    set(past.input, { max: Math.max(1, count - 1) });
    past.show(at, `step ${looks[0].step}`);
    grids.forEach(({ element, title, wrote, grid }, n) => {
      element.hidden = n >= lessons.length;
      if (element.hidden) return;
      const look = looks[n];
      setText(title, MODELS[models[n]].title);
      setText(wrote, `${look.source.join("")} → ${look.written.join("").replace(/end$/, "")}`);
      grid.element.hidden = !look.weights;
      if (look.weights) grid.draw({ rows: look.written, columns: look.source, weights: look.weights, row: -1, gold: look.gold ?? [], largest: 26 });
    });
    right.draw(lessons.map(({ looks: all }) => all.map(({ step, right: value }) => ({ step, value }))), looks[0].step);
    losses.draw(lessons.map(({ losses: all }) => thinned(all)), looks[0].step);
    return inWords(models, looks, small && model.get("width") > 16);
  }
  function numbers() {
    const all = lessons.flatMap(({ name, looks }) => looks.map((look) => [
      `${look.step}`, MODELS[name].title, fixed(look.right, 2), look.error === null ? "none" : fixed(look.error, 2),
    ]));
    return { caption: "How far the models were", head: ["step", "model", "right", "alignment error"], rows: all };
  }

  const hidden = () => { if (document.hidden) pause(); };
  document.addEventListener("visibilitychange", hidden);
  const again = () => begin();
  const changed = () => lessons.forEach(({ thread }) =>
    thread.send({ id: generation, changed: { rate: model.get("rate"), mask: model.get("mask") } }));
  const asked = () => { if (!running) order({ ask: typed() }); else lessons.forEach(({ thread }) => thread.send({ id: -1, ask: typed() })); };
  for (const name of FRESH) model.on(`change:${name}`, again);
  for (const name of ["rate", "mask"]) model.on(`change:${name}`, changed);
  model.on("change:sentence", asked);
  let show = () => {};
  const end = liveFigure({
    model, root, kind: "lr", title: "models that learn a task", draw, numbers,
    watch: ["task", "models", "longest", "width", "seed", "rate", "mask", "sentence", "at", "shown"],
    parts: [
      row(task.element, first.element, second.element),
      row(train, one, ten, reset, pace.element),
      html("div", { class: "attn-halves lr-charts" }, right.element, losses.element),
      html("div", { class: "attn-halves" }, ...grids.map(({ element }) => element)),
      past.element, own.element, settings,
    ],
    end() {
      pause();
      document.removeEventListener("visibilitychange", hidden);
      for (const name of FRESH) model.off(`change:${name}`, again);
      for (const name of ["rate", "mask"]) model.off(`change:${name}`, changed);
      model.off("change:sentence", asked);
      lessons.forEach(({ thread }) => thread.end());
    },
  });
  show = () => model.set("shown", (model.get("shown") ?? 0) + 1);
  begin();
  return end;
}

/** As many points as a line needs. */
function thinned(all) {
  const every = Math.ceil(all.length / 200);
  return all.filter((_, k) => k % every === 0);
}

/** Parameters as `attnlib.course.figures` loads them: shapes and numbers. */
function plain(parameters) {
  return Object.fromEntries(Object.entries(parameters ?? {}).map(([name, { rows, columns, data }]) =>
    [name, { shape: name.includes("bias") ? [rows] : [rows, columns], data: Array.from(data) }]));
}

/** What is seen, in one sentence. */
function inWords(models, looks, smaller) {
  const parts = looks.map(({ right, error }, n) =>
    `${MODELS[models[n]].title} writes ${fixed(100 * right, 0)} % of the unseen sentences without a mistake${
      error === null ? "" : ` (alignment error ${fixed(error, 2)})`}`);
  return `After ${looks[0].step} steps, ${parts.join("; ")}.${smaller ? " A smaller model, for a small screen." : ""}`;
}

export default { render };
