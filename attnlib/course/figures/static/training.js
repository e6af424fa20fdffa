import { newThread } from "./lesson_thread.js";

// One lesson or two, side by side and step by step together, each in a thread of its own; and what was seen of them.

export const SPEEDS = { slow: { steps: 1, wait: 400 }, steady: { steps: 5, wait: 100 }, full: { steps: 10, wait: 0 } };
const MOST = 400; // looks that are kept: when there are more, every second one is dropped

/** @param {object} told moved: () => void, something new can be seen; rested: () => void, all that was to be learned is
 *   learned
 * @returns a training: begin(settings, …) forgets everything; reach(steps) learns until so many steps are made */
export function newTraining({ moved, rested }) {
  let lessons = [], generation = 0, until = 0, speed = SPEEDS.full, wish = null, timer = null;

  /** @param {object[]} settings of each lesson, as `newLesson` takes them. No thread is started before it is needed. */
  function begin(settings) {
    end();
    lessons = settings.map((given) => ({ given: { ...given }, thread: null, waiting: false, failed: null, looks: [], losses: [], parameters: null }));
  }

  /** Learn with another rate, with another mask, or show another sentence. */
  function change(changed) {
    for (const lesson of lessons) Object.assign(lesson.given, changed);
    wish = { ...wish, ...changed };
    next();
  }

  function reach(steps) {
    until = steps;
    next();
  }

  const steps = () => lessons[0]?.losses.length ?? 0;
  const busy = () => lessons.some(({ waiting, failed }) => waiting || failed);

  function next() {
    clearTimeout(timer);
    if (busy()) return;
    if (lessons.some(({ thread }) => !thread)) {
      wish = null; // what was wished for stands in what they begin with
      if (until > 0) start();
    } else if (wish || until > steps()) {
      const changed = wish;
      wish = null;
      order({ changed, steps: Math.max(0, Math.min(until - steps(), speed.steps)) });
    }
  }
  function start() {
    lessons.forEach((lesson, n) => { lesson.thread = newThread((answer) => took(n, answer)); });
    lessons.forEach(({ thread, given }) => thread.send({ id: generation, begin: given }));
    lessons.forEach((lesson) => { lesson.waiting = true; });
  }
  function order(what) {
    for (const lesson of lessons) {
      lesson.waiting = true;
      lesson.thread.send({ id: generation, ...what });
    }
  }
  function took(n, { id, losses = [], look, parameters, failed }) {
    if (id !== undefined && id !== generation) return; // of a lesson that is over
    const lesson = lessons[n];
    lesson.waiting = false;
    if (failed) {
      lesson.failed = failed;
    } else {
      lesson.losses.push(...losses);
      if (lesson.looks.at(-1)?.step === look.step) lesson.looks.pop(); // the same moment, another sentence
      lesson.looks.push(look);
      if (lesson.looks.length > MOST) lesson.looks = lesson.looks.filter((_, k) => k % 2 === 0 || k === lesson.looks.length - 1);
      lesson.parameters = parameters;
    }
    if (lessons.some(({ waiting }) => waiting)) return;
    if (!busy()) {
      if (wish || until > steps()) timer = setTimeout(next, speed.wait);
      else if (lessons.some((one) => !one.parameters)) order({ grown: true });
      else rested();
    }
    moved();
  }

  /** Stop all threads. What was seen is forgotten with the next beginning. */
  function end() {
    clearTimeout(timer);
    generation += 1;
    wish = null;
    lessons.forEach(({ thread }) => thread?.end());
  }

  return {
    begin, change, reach, steps, end,
    lessons: () => lessons,
    /** How many looks there are of every lesson. */
    looks: () => (lessons.length ? Math.min(...lessons.map(({ looks }) => looks.length)) : 0),
    running: () => until > steps() && !lessons.some(({ failed }) => failed),
    pace(name) { speed = SPEEDS[name]; },
  };
}
