// The number formats of the book, emulated to the bit: what a float64 becomes when it is stored in fewer bits.
// tests/course/figures/test_masked_softmax_lab.py compares every number of 16 bits, and the midpoints between them, with torch.

const BITS = new DataView(new ArrayBuffer(8));

/** The exponent of the leading binary digit: floor(log2 |x|), exact.
 * @param {number} x finite, not 0, not subnormal in float64 @returns {number} */
function binaryExponent(x) {
  BITS.setFloat64(0, x);
  return ((BITS.getUint16(0) >> 4) & 0x7ff) - 1023;
}

/** The nearest number with so many binary digits, ties to even; too large is ∞, too small becomes subnormal, then ±0.
 * @param {number} x @param {number} digits of the significand, the leading one counted
 * @param {number} lowest, highest exponents of a normal number @returns {number} */
export function nearest(x, digits, lowest, highest) {
  if (!Number.isFinite(x) || x === 0) return x;
  const unit = 2 ** (Math.max(binaryExponent(x), lowest) - digits + 1); // the spacing of the format at x
  const units = x / unit; // exact: unit is a power of two
  const below = Math.floor(units), rest = units - below;
  const up = rest > 0.5 || (rest === 0.5 && below % 2 !== 0);
  const rounded = (up ? below + 1 : below) * unit;
  if (Math.abs(rounded) >= 2 ** (highest + 1)) return x < 0 ? -Infinity : Infinity;
  return rounded === 0 && x < 0 ? -0 : rounded;
}

/** Formats by their name in torch.
 *  round(x) stores a float64; the 16-bit ones go through float32, in which torch and most hardware compute for them
 *  add(x, y) is one step of a sum, which the 16-bit formats keep in float32 until its end
 *  epsilon: from 1 to the next number */
export const PRECISIONS = {
  float64: { round: (x) => x, add: (x, y) => x + y, epsilon: 2 ** -52 },
  float32: { round: Math.fround, add: (x, y) => Math.fround(x + y), epsilon: 2 ** -23 },
  float16: { round: (x) => nearest(Math.fround(x), 11, -14, 15), add: (x, y) => Math.fround(x + y), epsilon: 2 ** -10 },
  bfloat16: { round: (x) => nearest(Math.fround(x), 8, -126, 127), add: (x, y) => Math.fround(x + y), epsilon: 2 ** -7 },
};
