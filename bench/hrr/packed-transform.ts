/**
 * Fourier transforms of d reals, d a power of two and at least 16, as h = d/2 complex numbers in place, real and
 * imaginary part in turn. Radix 4, with a halving at first where h is no power of four; tables are laid out as
 * they are read. Bins stay where the way there leaves them, at places with reversed bits, so nothing is permuted:
 * products are taken there, and the way back mirrors the way there.
 */
export class PackedTransform {
  readonly #half: number;
  /** Roots of each length of the forward transform, longest first: w, w² and w³ of every butterfly. */
  readonly #levels: readonly { readonly length: number; readonly roots: Float64Array }[];
  readonly #halving: Float64Array | null;
  /** exp(−2πi·k/d) of the bin at each place. */
  readonly #binRoots: Float64Array;

  constructor(dimension: number) {
    this.#half = dimension / 2;
    const bits = Math.log2(this.#half);
    this.#halving = bits % 2 === 0 ? null : listRoots(this.#half, this.#half / 2, [1]);
    const levels = [];
    for (let length = bits % 2 === 0 ? this.#half : this.#half / 2; length > 4; length /= 4) {
      levels.push({ length, roots: listRoots(length, length / 4, [1, 2, 3]) });
    }
    this.#levels = levels;
    this.#binRoots = new Float64Array(dimension);
    for (let place = 0; place < this.#half; place++) {
      const angle = (-2 * Math.PI * reverseBits(place, bits)) / dimension;
      this.#binRoots[2 * place] = Math.cos(angle);
      this.#binRoots[2 * place + 1] = Math.sin(angle);
    }
  }

  /** Transforms reals to bins. */
  forward(x: Float64Array): void {
    if (this.#halving !== null) halve(x, this.#half, this.#halving);
    for (const { length, roots } of this.#levels) quarter(x, this.#half, length, roots);
    quarterLast(x);
  }

  /** Transforms bins to reals; `multiply` has scaled for it. */
  backward(x: Float64Array): void {
    joinFirst(x);
    for (let index = this.#levels.length - 1; index >= 0; index--) {
      const { length, roots } = this.#levels[index]!;
      joinQuarters(x, this.#half, length, roots);
    }
    if (this.#halving !== null) joinHalves(x, this.#half, this.#halving);
  }

  /** Multiplies the bins of x by those of y, into x. */
  multiply(x: Float64Array, y: Float64Array): void {
    const scale = 1 / (8 * this.#half);
    multiplyBins(x, y, 0, 0, 1, 0, scale);
    multiplyBins(x, y, 2, 2, 0, -1, scale);
    for (let octave = 2; octave < this.#half; octave *= 2) {
      for (let at = octave; at < 1.5 * octave; at++) {
        const mirror = 3 * octave - 1 - at;
        multiplyBins(x, y, 2 * at, 2 * mirror, this.#binRoots[2 * at]!, this.#binRoots[2 * at + 1]!, scale);
      }
    }
  }
}

function listRoots(length: number, count: number, powers: readonly number[]): Float64Array {
  const roots = new Float64Array(2 * count * powers.length);
  let at = 0;
  for (let j = 0; j < count; j++) {
    for (const power of powers) {
      roots[at++] = Math.cos((2 * Math.PI * j * power) / length);
      roots[at++] = -Math.sin((2 * Math.PI * j * power) / length);
    }
  }
  return roots;
}

function reverseBits(value: number, bits: number): number {
  let reversed = 0;
  for (let bit = 0; bit < bits; bit++) reversed |= ((value >> bit) & 1) << (bits - 1 - bit);
  return reversed;
}

function halve(x: Float64Array, length: number, roots: Float64Array): void {
  for (let i = 0; i < length; i += 2) {
    const re = x[i]! - x[i + length]!;
    const im = x[i + 1]! - x[i + 1 + length]!;
    x[i] = x[i]! + x[i + length]!;
    x[i + 1] = x[i + 1]! + x[i + 1 + length]!;
    x[i + length] = re * roots[i]! - im * roots[i + 1]!;
    x[i + length + 1] = re * roots[i + 1]! + im * roots[i]!;
  }
}

function joinHalves(x: Float64Array, length: number, roots: Float64Array): void {
  for (let i = 0; i < length; i += 2) {
    const re = x[i + length]!;
    const im = x[i + length + 1]!;
    const turnedRe = re * roots[i]! + im * roots[i + 1]!;
    const turnedIm = im * roots[i]! - re * roots[i + 1]!;
    x[i + length] = x[i]! - turnedRe;
    x[i + length + 1] = x[i + 1]! - turnedIm;
    x[i] = x[i]! + turnedRe;
    x[i + 1] = x[i + 1]! + turnedIm;
  }
}

function quarter(x: Float64Array, half: number, length: number, roots: Float64Array): void {
  const step = length / 2;
  for (let block = 0; block < 2 * half; block += 2 * length) {
    for (let j = 0, r = 0; j < step; j += 2, r += 6) {
      const a = block + j;
      const b = a + step;
      const c = b + step;
      const d = c + step;
      const evenRe = x[a]! + x[c]!;
      const evenIm = x[a + 1]! + x[c + 1]!;
      const oddRe = x[b]! + x[d]!;
      const oddIm = x[b + 1]! + x[d + 1]!;
      const pRe = x[a]! - x[c]!;
      const pIm = x[a + 1]! - x[c + 1]!;
      const qRe = x[b + 1]! - x[d + 1]!;
      const qIm = x[d]! - x[b]!;
      x[a] = evenRe + oddRe;
      x[a + 1] = evenIm + oddIm;
      const yRe = evenRe - oddRe;
      const yIm = evenIm - oddIm;
      x[b] = yRe * roots[r + 2]! - yIm * roots[r + 3]!;
      x[b + 1] = yRe * roots[r + 3]! + yIm * roots[r + 2]!;
      const uRe = pRe + qRe;
      const uIm = pIm + qIm;
      x[c] = uRe * roots[r]! - uIm * roots[r + 1]!;
      x[c + 1] = uRe * roots[r + 1]! + uIm * roots[r]!;
      const vRe = pRe - qRe;
      const vIm = pIm - qIm;
      x[d] = vRe * roots[r + 4]! - vIm * roots[r + 5]!;
      x[d + 1] = vRe * roots[r + 5]! + vIm * roots[r + 4]!;
    }
  }
}

/** The last four of each block, whose roots are all 1. */
function quarterLast(x: Float64Array): void {
  for (let a = 0; a < x.length; a += 8) {
    const evenRe = x[a]! + x[a + 4]!;
    const evenIm = x[a + 1]! + x[a + 5]!;
    const oddRe = x[a + 2]! + x[a + 6]!;
    const oddIm = x[a + 3]! + x[a + 7]!;
    const pRe = x[a]! - x[a + 4]!;
    const pIm = x[a + 1]! - x[a + 5]!;
    const qRe = x[a + 3]! - x[a + 7]!;
    const qIm = x[a + 6]! - x[a + 2]!;
    x[a] = evenRe + oddRe;
    x[a + 1] = evenIm + oddIm;
    x[a + 2] = evenRe - oddRe;
    x[a + 3] = evenIm - oddIm;
    x[a + 4] = pRe + qRe;
    x[a + 5] = pIm + qIm;
    x[a + 6] = pRe - qRe;
    x[a + 7] = pIm - qIm;
  }
}

function joinFirst(x: Float64Array): void {
  for (let a = 0; a < x.length; a += 8) {
    const evenRe = x[a]! + x[a + 2]!;
    const evenIm = x[a + 1]! + x[a + 3]!;
    const oddRe = x[a]! - x[a + 2]!;
    const oddIm = x[a + 1]! - x[a + 3]!;
    const pRe = x[a + 4]! + x[a + 6]!;
    const pIm = x[a + 5]! + x[a + 7]!;
    const qRe = x[a + 7]! - x[a + 5]!;
    const qIm = x[a + 4]! - x[a + 6]!;
    x[a] = evenRe + pRe;
    x[a + 1] = evenIm + pIm;
    x[a + 2] = oddRe + qRe;
    x[a + 3] = oddIm + qIm;
    x[a + 4] = evenRe - pRe;
    x[a + 5] = evenIm - pIm;
    x[a + 6] = oddRe - qRe;
    x[a + 7] = oddIm - qIm;
  }
}

function joinQuarters(x: Float64Array, half: number, length: number, roots: Float64Array): void {
  const step = length / 2;
  for (let block = 0; block < 2 * half; block += 2 * length) {
    for (let j = 0, r = 0; j < step; j += 2, r += 6) {
      const a = block + j;
      const b = a + step;
      const c = b + step;
      const d = c + step;
      const yRe = x[b]! * roots[r + 2]! + x[b + 1]! * roots[r + 3]!;
      const yIm = x[b + 1]! * roots[r + 2]! - x[b]! * roots[r + 3]!;
      const uRe = x[c]! * roots[r]! + x[c + 1]! * roots[r + 1]!;
      const uIm = x[c + 1]! * roots[r]! - x[c]! * roots[r + 1]!;
      const vRe = x[d]! * roots[r + 4]! + x[d + 1]! * roots[r + 5]!;
      const vIm = x[d + 1]! * roots[r + 4]! - x[d]! * roots[r + 5]!;
      const evenRe = x[a]! + yRe;
      const evenIm = x[a + 1]! + yIm;
      const oddRe = x[a]! - yRe;
      const oddIm = x[a + 1]! - yIm;
      const pRe = uRe + vRe;
      const pIm = uIm + vIm;
      const qRe = vIm - uIm;
      const qIm = uRe - vRe;
      x[a] = evenRe + pRe;
      x[a + 1] = evenIm + pIm;
      x[b] = oddRe + qRe;
      x[b + 1] = oddIm + qIm;
      x[c] = evenRe - pRe;
      x[c + 1] = evenIm - pIm;
      x[d] = oddRe - qRe;
      x[d + 1] = oddIm - qIm;
    }
  }
}

/** Bins k and h − k, at two places: taken apart into those of reals, multiplied, and put together again. */
function multiplyBins(
  x: Float64Array,
  y: Float64Array,
  at: number,
  mirror: number,
  rootRe: number,
  rootIm: number,
  scale: number,
): void {
  const xEvenRe = x[at]! + x[mirror]!;
  const xEvenIm = x[at + 1]! - x[mirror + 1]!;
  const xTurnedRe = x[at + 1]! + x[mirror + 1]!;
  const xTurnedIm = x[mirror]! - x[at]!;
  const xOddRe = xTurnedRe * rootRe - xTurnedIm * rootIm;
  const xOddIm = xTurnedRe * rootIm + xTurnedIm * rootRe;
  const yEvenRe = y[at]! + y[mirror]!;
  const yEvenIm = y[at + 1]! - y[mirror + 1]!;
  const yTurnedRe = y[at + 1]! + y[mirror + 1]!;
  const yTurnedIm = y[mirror]! - y[at]!;
  const yOddRe = yTurnedRe * rootRe - yTurnedIm * rootIm;
  const yOddIm = yTurnedRe * rootIm + yTurnedIm * rootRe;
  // (e + o)(f + p) and (e − o)(f − p): their half sum is ef + op, their half difference ep + of.
  const evenRe = xEvenRe * yEvenRe - xEvenIm * yEvenIm + xOddRe * yOddRe - xOddIm * yOddIm;
  const evenIm = xEvenRe * yEvenIm + xEvenIm * yEvenRe + xOddRe * yOddIm + xOddIm * yOddRe;
  const differenceRe = xEvenRe * yOddRe - xEvenIm * yOddIm + xOddRe * yEvenRe - xOddIm * yEvenIm;
  const differenceIm = xEvenRe * yOddIm + xEvenIm * yOddRe + xOddRe * yEvenIm + xOddIm * yEvenRe;
  const oddRe = differenceRe * rootRe + differenceIm * rootIm;
  const oddIm = differenceIm * rootRe - differenceRe * rootIm;
  x[at] = 2 * scale * (evenRe - oddIm);
  x[at + 1] = 2 * scale * (evenIm + oddRe);
  x[mirror] = 2 * scale * (evenRe + oddIm);
  x[mirror + 1] = 2 * scale * (oddRe - evenIm);
}
