import { type CountedMetric, countRatio, indexOfLargest, rowOf, type TaskTensor } from "./task-tensor.ts";

const BLANK = 0;

/** Steps times characters of all samples, since each is held against every other. */
export const MAX_EDIT_STEPS = 2 ** 30;

/**
 * 1 − edits over characters, of all samples together. The output [n, steps, 1 + symbols] is read greedily (Graves et
 * al., "Connectionist temporal classification", ICML 2006): the best of each step, repeats merged, blanks left out. The
 * target [n, length] has 0 behind its end. Edits are Levenshtein's (1966).
 * Throws a RangeError where there are too many steps.
 */
export function countCharacterAccuracy(output: TaskTensor, target: TaskTensor): CountedMetric {
  const [, steps, symbols] = output.shape;
  if (steps === undefined || symbols === undefined || output.shape.length !== 3 || target.shape.length !== 2)
    throw new RangeError("characters are read of an output [n, steps, symbols] and a target [n, length]");
  const [samples, length] = target.shape as [number, number];
  const work = samples * steps * length;
  if (work > MAX_EDIT_STEPS) throw new RangeError(`at most ${MAX_EDIT_STEPS} edits are tried, and these are ${work}`);
  const words = Array.from({ length: samples }, (_, sample) => rowOf(target, sample).filter((at) => at !== BLANK));
  const lengths = Float64Array.from(words, (word) => word.length);
  const hits = Float64Array.from(words, (word, sample) => {
    return word.length - countEdits(readGreedily(rowOf(output, sample), symbols), word);
  });
  return countRatio(hits, lengths);
}

function readGreedily(row: Float32Array, symbols: number): number[] {
  const best = Array.from({ length: row.length / symbols }, (_, step) =>
    indexOfLargest(row.subarray(step * symbols, (step + 1) * symbols)),
  );
  return best.filter((symbol, step) => symbol !== BLANK && symbol !== best[step - 1]);
}

/** Symbols put in, left out or changed between two words. */
function countEdits(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      const change = row[j]! + (one[i] === other[j] ? 0 : 1);
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, change));
    }
    row = next;
  }
  return row.at(-1)!;
}
