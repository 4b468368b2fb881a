import { createBatchEntry } from "../batch-entry.ts";
import { instantiateAssembly } from "../instantiate-assembly.ts";
import type { Contender } from "../contest.ts";
import { countBinds, createVectors, type HrrCase } from "./hrr-case.ts";

interface Program {
  prepare(dimension: number, pairs: number): void;
  /** Addresses of the inputs and of the result. */
  first(): number;
  second(): number;
  result(): number;
  bindAll(pairs: number): void;
}

/** WebAssembly with SIMD on one thread; vectors go into its memory and results out of it each time. */
export const contender: Contender<HrrCase> = async (shape) => {
  const { dimension, pairs } = shape;
  const { a, b } = createVectors(shape);
  const program = await instantiateAssembly<Program>(new URL("bind.as", import.meta.url));
  program.prepare(dimension, pairs);
  const at = (address: number) => new Float32Array(program.memory.buffer, address, pairs * dimension);
  const [first, second, result] = [at(program.first()), at(program.second()), at(program.result())];

  const run = () => {
    first.set(a);
    second.set(b);
    program.bindAll(pairs);
    return Promise.resolve(result.slice());
  };
  return countBinds(await createBatchEntry(run, 1, { adapter: null }), shape);
};
