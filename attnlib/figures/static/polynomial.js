// Costs as polynomials in S, T and d. A term is [coefficient, power of S, power of T, power of d], all numbers.
// The same arithmetic as attnlib.figures.polynomials, and the tests hold the two equal.

export const AXES = { "S=T": ["S", "T"], S: ["S"], T: ["T"], d: ["d"] }; // axis -> the letters that grow along it

/** The cost at given sizes. @param {number[][]} terms (n, 4) @param {{S: number, T: number, d: number}} sizes */
export function cost(terms, { S, T, d }) {
  return terms.reduce((sum, [c, s, t, w]) => sum + c * S ** s * T ** t * d ** w, 0);
}

/** The cost as a polynomial in what grows along the axis. @param {number[][]} terms (n, 4) @param {string} axis
 * @param {{S: number, T: number, d: number}} sizes @returns {number[]} (25,) coefficients of x⁰, x¹, and so on */
export function along(terms, axis, sizes) {
  const result = new Array(25).fill(0);
  for (const [coefficient, ...powers] of terms) {
    let [degree, factor] = [0, coefficient];
    ["S", "T", "d"].forEach((letter, n) => {
      if (AXES[axis].includes(letter)) degree += powers[n];
      else factor *= sizes[letter] ** powers[n];
    });
    result[degree] += factor;
  }
  return result;
}

/** Where one cost and another change sides, however far out.
 * @param {number[][]} one (n, 4) @param {number[][]} other (m, 4)
 * @returns {{places: number[], first: number}} the places x ≥ 1, in order; first: the sign of one − other before
 *   the first of them, 0 if they are always equal */
export function crossing(one, other, axis, sizes) {
  const b = along(other, axis, sizes);
  const difference = along(one, axis, sizes).map((a, k) => a - b[k]);
  const places = signChanges(difference).filter((x) => x >= 1);
  // Nothing changes between 1 and the first place, unless that is 1 itself.
  const probe = places.length ? (places[0] > 1 ? (1 + places[0]) / 2 : 0.999) : 2;
  return { places, first: Math.sign(horner(difference, probe)) };
}

/** All x > 0 at which a polynomial changes its sign. Between two neighbouring roots of its derivative it only rises
 * or only falls: there it is bisected, until no number is left between.
 * @param {number[]} coefficients of x⁰, x¹, and so on @returns {number[]} in order */
export function signChanges(coefficients) {
  const c = [...coefficients];
  while (c.length && c.at(-1) === 0) c.pop();
  while (c.length && c[0] === 0) c.shift(); // a factor x, which is positive
  if (c.length < 2) return [];
  const turns = signChanges(c.map((factor, k) => k * factor).slice(1));
  const beyond = 1 + Math.max(...c.map((factor) => Math.abs(factor / c.at(-1)))); // Cauchy: all roots are smaller
  const roots = [];
  let last = 0;
  for (const x of [...turns.filter((turn) => turn < beyond), beyond]) {
    if (horner(c, x) * Math.sign(horner(c, last)) < 0) roots.push(bisected(c, last, x));
    if (horner(c, x) !== 0) last = x;
  }
  return roots;
}

function horner(c, x) {
  return c.reduceRight((sum, factor) => sum * x + factor, 0);
}

function bisected(c, low, high) {
  const rising = horner(c, high) > 0;
  for (;;) {
    const middle = (low + high) / 2;
    if (!(low < middle && middle < high)) break;
    if (horner(c, middle) > 0 === rising) high = middle;
    else low = middle;
  }
  const near = Math.round(high); // a whole number that is a root is found exactly
  return horner(c, near) === 0 ? near : high;
}

/** The steps of a slider: powers of two with three steps between, as far as they are whole.
 * @param {number} largest @returns {number[]} 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, … largest */
export function ladder(largest) {
  const steps = [];
  for (let power = 1; power < largest; power *= 2) {
    for (const part of [1, 1.25, 1.5, 1.75]) {
      if (Number.isInteger(power * part) && power * part < largest) steps.push(power * part);
    }
  }
  return [...steps, largest];
}

/** The step of a ladder that is nearest to a size. @param {number[]} steps @param {number} size @returns {number} */
export function nearest(steps, size) {
  const far = steps.map((step) => Math.abs(Math.log(step / size)));
  return far.indexOf(Math.min(...far));
}
