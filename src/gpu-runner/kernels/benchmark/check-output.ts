import { setImmediate } from "node:timers/promises";
import type { KernelArray, KernelReference, KernelShape, Tolerance } from "../../../../kernels/kernel-spec.ts";
import { seededUniform } from "../../../../kernels/seeded-uniform.ts";
import type { BenchmarkResult } from "../../../protocol/jobs/benchmark.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";

/** Limit of a check's work: about half a second of naive f64. */
const MAX_FLOPS = 3e8;
/** Cost of reading an element besides its arithmetic: mostly cache misses. */
const ELEMENT_FLOPS = 100;
/** Work between two turns of the event loop: some 20 ms. */
const SLICE_FLOPS = 1e7;

/** Random stream that differs from those of the generators. */
const SAMPLE_STREAM = 1_000_003;

/** What a kernel has to answer: the values of an output, or of a seeded sample of it. */
export interface ExpectedOutput {
  readonly output: string;
  readonly indexes: Uint32Array;
  readonly values: Float64Array;
}

/**
 * Computes what the naive f64 reference says: all of an output, or a seeded sample where that would take seconds.
 * `onSlice` is called between slices of work.
 */
export async function expectOutput(
  reference: KernelReference,
  seed: number,
  onSlice: (done: number, total: number) => void,
): Promise<ExpectedOutput> {
  const indexes = chooseElements(reference, seed);
  const values = new Float64Array(indexes.length);
  const sliceLength = Math.ceil(SLICE_FLOPS / (reference.elementFlops + ELEMENT_FLOPS));
  for (let position = 0; position < indexes.length; position++) {
    if (position % sliceLength === sliceLength - 1) {
      onSlice(position, indexes.length);
      await setImmediate();
    }
    values[position] = reference.element(indexes[position]!);
  }
  return { output: reference.output, indexes, values };
}

/**
 * Compares an output with what is expected of it (`checkedElements` is the count). NaN is an error. The relative error is
 * taken against the larger of the reference and the root mean square of all references, so that elements near zero do not
 * inflate it. Fails with `kernel-incorrect`.
 */
function compareOutput(
  output: KernelArray,
  expected: ExpectedOutput,
  tolerance: Tolerance,
  shape: KernelShape,
): BenchmarkResult["correctness"] {
  const { indexes, values } = expected;
  const { relative, reason } = tolerance;
  const absolute = tolerance.absolute(shape);
  let [maxAbsoluteError, squares] = [0, 0];
  for (let position = 0; position < indexes.length; position++) {
    const [index, want] = [indexes[position]!, values[position]!];
    const got = output[index] ?? Number.NaN;
    const error = Math.abs(got - want);
    if (!(error <= absolute + relative * Math.abs(want))) {
      const detail = `'${expected.output}'[${index}] is ${got}, the reference says ${want}`;
      throw new ProblemError("kernel-incorrect", detail);
    }
    squares += want * want;
    maxAbsoluteError = Math.max(maxAbsoluteError, error);
  }
  const rootMeanSquare = Math.sqrt(squares / indexes.length);
  let maxRelativeError = 0;
  for (let position = 0; position < indexes.length; position++) {
    const want = values[position]!;
    const scale = Math.max(Math.abs(want), rootMeanSquare);
    if (scale === 0) continue;
    maxRelativeError = Math.max(maxRelativeError, Math.abs((output[indexes[position]!] ?? Number.NaN) - want) / scale);
  }
  return {
    correct: true,
    checkedElements: indexes.length,
    maxAbsoluteError,
    maxRelativeError,
    tolerance: `|error| ≤ ${absolute.toPrecision(3)} + ${relative.toPrecision(3)}·|reference|: ${reason}`,
  };
}

/** Compares an output with its reference; see `expectOutput` and `compareOutputs`. */
export async function checkOutput(
  output: KernelArray,
  reference: KernelReference,
  tolerance: Tolerance,
  shape: KernelShape,
  seed: number,
  onSlice: (done: number, total: number) => void,
): Promise<BenchmarkResult["correctness"]> {
  return checkOutputs([output], [reference], tolerance, shape, seed, onSlice);
}

/** Compares each output with its reference and returns the largest errors. Fails with `kernel-incorrect`. */
export async function checkOutputs(
  outputs: readonly KernelArray[],
  references: readonly KernelReference[],
  tolerance: Tolerance,
  shape: KernelShape,
  seed: number,
  onSlice: (done: number, total: number) => void,
): Promise<BenchmarkResult["correctness"]> {
  const expected: ExpectedOutput[] = [];
  for (const reference of references) expected.push(await expectOutput(reference, seed, onSlice));
  return compareOutputs(outputs, expected, tolerance, shape);
}

/** Compares each output with what is expected of it and returns the largest errors. Fails with `kernel-incorrect`. */
export function compareOutputs(
  outputs: readonly KernelArray[],
  expected: readonly ExpectedOutput[],
  tolerance: Tolerance,
  shape: KernelShape,
): BenchmarkResult["correctness"] {
  const checks = expected.map((each, index) => compareOutput(outputs[index]!, each, tolerance, shape));
  return {
    ...checks[0]!,
    checkedElements: checks.reduce((total, { checkedElements }) => total + checkedElements, 0),
    maxAbsoluteError: Math.max(...checks.map(({ maxAbsoluteError }) => maxAbsoluteError)),
    maxRelativeError: Math.max(...checks.map(({ maxRelativeError }) => maxRelativeError)),
  };
}

/** Every index, or as many seeded ones as the cost allows: always the first and last; the others may repeat. */
function chooseElements({ length, elementFlops }: KernelReference, seed: number): Uint32Array<ArrayBuffer> {
  const affordable = Math.max(16, Math.floor(MAX_FLOPS / (elementFlops + ELEMENT_FLOPS)));
  if (length <= affordable) return new Uint32Array(length).map((_, index) => index);
  // The values have 2²⁴ steps. Beyond that, several elements share a value and are used in turn.
  const uniform = seededUniform(seed, SAMPLE_STREAM, affordable);
  const shared = Math.ceil(length / 2 ** 24);
  const sample = new Uint32Array(affordable).map((_, position) =>
    Math.min(length - 1, Math.floor(((uniform[position]! + 1) / 2) * length) + (position % shared)),
  );
  sample[0] = 0;
  sample[sample.length - 1] = length - 1;
  return sample;
}
