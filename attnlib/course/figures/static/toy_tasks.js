// Small tasks whose alignment is known: what each written token was made of. Tokens are letters, ids as in
// attnlib.data.vocabulary; everything is drawn by one generator, so a seed gives the same sentences everywhere.

export const PAD = 0;
export const BOS = 1;
export const EOS = 2;
export const FIRST = 4; // the first letter; 3 is <unk>, which no task writes

/** Random numbers in 0..1 from a seed: mulberry32, of 32 bits of state. */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A task by its name.
 * @param {"copy"|"reverse"|"sort"|"look up"|"dates"} name @param {number} longest letters of a sentence
 * @returns {{symbols: string[], draw: (random: () => number) => object, solve: (source: string[]) => ?object}} draw
 *   gives {source, target, gold}: tokens, and [i, j] for each target token i made of source token j (null where no
 *   such links are claimed); solve does so for tokens that somebody has typed, null where they are no such sentence */
export function newTask(name, longest = 8) {
  const letters = [..."abcdefghijklmnopqrstuvwxyz"], digits = [..."0123456789"];
  const whole = (random, low, high) => low + Math.floor(random() * (high - low + 1));
  const one = (random, things) => things[whole(random, 0, things.length - 1)];
  const some = (random, things, low, high) => Array.from({ length: whole(random, low, high) }, () => one(random, things));
  const all = (source, known) => source.length > 0 && source.length <= longest && source.every((x) => known.includes(x));
  const ordered = (places) => (source) => {
    const order = places(source);
    return { source, target: order.map((j) => source[j]), gold: order.map((j, i) => [i, j]) };
  };
  const permuted = (places) => {
    const solved = ordered(places);
    return {
      symbols: letters,
      draw: (random) => solved(some(random, letters, 3, longest)),
      solve: (source) => (all(source, letters) ? solved(source) : null),
    };
  };
  const places = (source) => source.map((_, j) => j);
  const tasks = {
    copy: () => permuted(places),
    reverse: () => permuted((source) => places(source).reverse()),
    sort: () => permuted((source) => places(source).sort((a, b) => letters.indexOf(source[a]) - letters.indexOf(source[b]) || a - b)),
    "look up": () => {
      // pairs of a letter and a digit, and a letter: write its digit
      const solve = (source) => {
        const asked = source.at(-1), j = source.indexOf(asked) + 1, pairs = source.slice(0, -1);
        const fits = source.length >= 3 && source.length % 2 === 1 && source.length <= 2 * Math.floor(longest / 2) + 1 &&
          pairs.every((x, n) => (n % 2 ? digits : letters).includes(x)) && letters.includes(asked) && j < source.length;
        return fits ? { source, target: [source[j]], gold: [[0, j]] } : null;
      };
      return {
        symbols: [...letters, ...digits],
        draw(random) {
          const left = [...letters], pairs = Math.max(1, whole(random, 2, Math.floor(longest / 2)));
          const keys = Array.from({ length: pairs }, () => left.splice(whole(random, 0, left.length - 1), 1)[0]);
          return solve([...keys.flatMap((key) => [key, one(random, digits)]), one(random, keys)]);
        },
        solve,
      };
    },
    dates: () => {
      const months = "january february march april may june july august september october november december".split(" ");
      const two = (n) => String(n).padStart(2, "0");
      const written = ({ year, month, day }, form) => [
        `${months[month - 1]} ${day} ${year}`, `${day} ${months[month - 1]} ${year}`,
        `${day} ${months[month - 1].slice(0, 3)} ${year}`, `${year}/${month}/${day}`,
      ][form];
      const known = [...letters, ...digits, " ", "/", "-"];
      const example = (date, form) => ({
        source: [...written(date, form)], target: [...`${date.year}-${two(date.month)}-${two(date.day)}`], gold: null,
      });
      return {
        symbols: known,
        draw: (random) => example(
          { year: whole(random, 1950, 2049), month: whole(random, 1, 12), day: whole(random, 1, 28) }, whole(random, 0, 3)),
        solve(source) {
          const parts = source.join("").split(/[ /]/);
          for (let form = 0; form < 4; form++) {
            const [a, b, c] = parts, [year, month, day] = [[c, a, b], [c, b, a], [c, b, a], [a, b, c]][form];
            const named = months.findIndex((word) => (form === 2 ? word.slice(0, 3) : word) === month) + 1;
            const date = { year: Number(year), month: form === 3 ? Number(month) : named, day: Number(day) };
            if (written({ ...date, month: date.month || 1 }, form) === source.join("") && date.month >= 1 && date.month <= 12 && date.day >= 1 && date.day <= 31 && /^\d{4}$/.test(year)) return example(date, form);
          }
          return null;
        },
      };
    },
  };
  if (!tasks[name]) throw new Error(`unknown task ${name}, known are ${Object.keys(tasks).join(", ")}`);
  return tasks[name]();
}

/** Sentences as a model reads them: ids, padded. @param {object[]} examples @param {string[]} symbols */
export function batchOf(examples, symbols) {
  const id = (token) => FIRST + symbols.indexOf(token);
  const padded = (rows) => {
    const longest = Math.max(...rows.map((row) => row.length));
    return rows.map((row) => [...row, ...Array(longest - row.length).fill(PAD)]);
  };
  const source = examples.map((one) => one.source.map(id)), target = examples.map((one) => one.target.map(id));
  return {
    source: padded(source), lengths: source.map((ids) => ids.length),
    inputs: padded(target.map((ids) => [BOS, ...ids])), targets: padded(target.map((ids) => [...ids, EOS])),
  };
}
