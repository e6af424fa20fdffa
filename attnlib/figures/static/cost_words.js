// Sizes, costs and crossings in words.

const LARGE = [[1e15, " quadrillion"], [1e12, " trillion"], [1e9, " billion"], [1e6, " million"]];

/** A whole number as it is printed, 12,800. @param {number} n */
export function grouped(n) {
  return Math.round(n).toLocaleString("en-US");
}

/** A number of operations as one says it: 840, 12,800, 1.31 million. @param {number} n */
export function spokenCount(n) {
  if (n >= 999.5e15) return n.toExponential(2).replace("e+", " × 10^");
  const [unit, name] = LARGE.find(([size]) => n >= 0.9995 * size) ?? [1, ""];
  return name ? threeDigits(n / unit) + name : Number.isInteger(n) ? grouped(n) : threeDigits(n);
}

/** A ratio: 0.0163, 1.00, 8.35, 1,230. @param {number} x */
export function threeDigits(x) {
  if (x === 0) return "0";
  if (x >= 999.5) return grouped(x);
  if (x > 0 && x < 1e-4) return x.toExponential(1).replace("e-", " × 10^−");
  return x >= 0.9995 ? x.toPrecision(3) : x.toPrecision(2);
}

/** The number at which a crossing is marked: where the two are equal, or else the first whole one on its far side. */
export function crossingAt(place) {
  return Math.ceil(place);
}

/** Where a cost is larger and where smaller than the first one.
 * @param {{places: number[], first: number}} crossing of polynomial.js
 * @param {string} other name of the first cost @param {string} letter what grows: "S", "S = T"
 * @param {number} largest the end of the axis @returns {string} */
export function crossingInWords({ places, first }, other, letter, largest) {
  if (!places.length) {
    if (first === 0) return `always as much as ${other}`;
    return `never meets ${other}: ${first > 0 ? "more" : "less"} at every ${letter}`;
  }
  return places.map((place, n) => {
    const beyond = first * (-1) ** n < 0 ? "more" : "less";
    const than = n === 0 ? other : "";
    const at = `${letter} = ${grouped(crossingAt(place))}${place > largest ? " (beyond the axis)" : ""}`;
    if (Number.isInteger(place)) return `as much ${than && `as ${than} `}at ${at}, ${beyond} beyond`;
    return `${beyond} ${than && `than ${than} `}from ${at} on`;
  }).join("; ");
}

/** The same in a few words, beside the name of the cost: "dearer from 11 on".
 * @param {{places: number[], first: number}} crossing of polynomial.js @returns {string} */
export function crossingBriefly({ places, first }) {
  if (!places.length) return first === 0 ? "always the same" : first > 0 ? "always dearer" : "always cheaper";
  return places.map((place, n) => {
    const word = first * (-1) ** n < 0 ? "dearer" : "cheaper", at = grouped(crossingAt(place));
    return Number.isInteger(place) ? `${word} beyond ${at}` : `${word} from ${at} on`;
  }).join(", ");
}
