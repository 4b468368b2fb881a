import FFT from "fft.js";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { countBinds, createVectors, type HrrCase } from "./hrr-case.ts";

/** fft.js with its transform for reals; it lacks the inverse, so that is a complex one. */
export const contender: Contender<HrrCase> = async (shape) => {
  const { dimension, pairs } = shape;
  const { a, b } = createVectors(shape);
  const fft = new FFT(dimension);
  const [x, y, z] = [fft.createComplexArray(), fft.createComplexArray(), fft.createComplexArray()];
  const c = new Float32Array(pairs * dimension);

  function bind(pair: number): void {
    const from = pair * dimension;
    fft.realTransform(x, a.subarray(from, from + dimension));
    fft.realTransform(y, b.subarray(from, from + dimension));
    for (let i = 0; i <= dimension; i += 2) {
      const re = x[i]! * y[i]! - x[i + 1]! * y[i + 1]!;
      x[i + 1] = x[i]! * y[i + 1]! + x[i + 1]! * y[i]!;
      x[i] = re;
    }
    fft.completeSpectrum(x);
    fft.inverseTransform(z, x);
    for (let i = 0; i < dimension; i++) c[from + i] = z[2 * i]!;
  }

  const run = () => {
    for (let pair = 0; pair < pairs; pair++) bind(pair);
    return Promise.resolve(c);
  };
  return countBinds(await createBatchEntry(run, 1, { adapter: null }), shape);
};
