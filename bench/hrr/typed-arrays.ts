import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { countBinds, createVectors, type HrrCase } from "./hrr-case.ts";
import { PackedTransform } from "./packed-transform.ts";

/** Plain JavaScript on typed arrays: a transform of d/2 complex numbers, made for this work. */
export const contender: Contender<HrrCase> = async (shape) => {
  const { dimension, pairs } = shape;
  const { a, b } = createVectors(shape);
  const transform = new PackedTransform(dimension);
  const [x, y] = [new Float64Array(dimension), new Float64Array(dimension)];
  const c = new Float32Array(pairs * dimension);

  function bind(pair: number): void {
    const from = pair * dimension;
    for (let i = 0; i < dimension; i++) x[i] = a[from + i]!;
    for (let i = 0; i < dimension; i++) y[i] = b[from + i]!;
    transform.forward(x);
    transform.forward(y);
    transform.multiply(x, y);
    transform.backward(x);
    for (let i = 0; i < dimension; i++) c[from + i] = x[i]!;
  }

  const run = () => {
    for (let pair = 0; pair < pairs; pair++) bind(pair);
    return Promise.resolve(c);
  };
  return countBinds(await createBatchEntry(run, 1, { adapter: null }), shape);
};
