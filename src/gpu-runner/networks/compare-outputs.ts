import type { NarrowBits } from "../../../kernels/network/tiled-operators.ts";
import { countElements, type Tensor, typedView, unpackStrings } from "../../protocol/wire/tensor.ts";

/**
 * Backends and batches may sum in another order, which shows in f32 at about this size. Wrong kernels differ far more.
 */
export const AGREEMENT = 1e-3;

/**
 * The same for networks that round activations: backends do so in other places, or not at all, and each rounding to 8
 * bits may move an answer by about 1/127.
 */
export const ROUNDED_AGREEMENT = 0.1;

/** The same where activations are rounded to float16, each by at most 1/2,048 of itself: room for some twenty layers. */
const HALF_AGREEMENT = 0.01;

/** Agreement of answers whose activations were rounded to so many bits, or not at all. */
export function agreementAt(bits: NarrowBits | null): number {
  return bits === null ? AGREEMENT : { 8: ROUNDED_AGREEMENT, 16: HALF_AGREEMENT }[bits];
}

/**
 * Largest difference between two sets of outputs, relative to the largest magnitude of each
 * reference tensor; infinite where names, types or shapes differ, or a value is not finite in one and
 * another in the other.
 */
export function maxRelativeError(reference: readonly Tensor[], outputs: readonly Tensor[]): number {
  if (reference.length !== outputs.length) return Number.POSITIVE_INFINITY;
  let worst = 0;
  for (const expected of reference) {
    const found = outputs.find((output) => output.name === expected.name);
    if (found === undefined || found.dtype !== expected.dtype || found.shape.join() !== expected.shape.join()) {
      return Number.POSITIVE_INFINITY;
    }
    worst = Math.max(worst, tensorError(expected, found));
  }
  return worst;
}

/** Strings are equal, or differ as much as possible. */
function tensorError(expected: Tensor, found: Tensor): number {
  if (expected.dtype === "string") {
    return unpackStrings(expected.bytes).join("\0") === unpackStrings(found.bytes).join("\0")
      ? 0
      : Number.POSITIVE_INFINITY;
  }
  const a = typedView(expected);
  const b = typedView(found);
  let scale = 0;
  let difference = 0;
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [Number(a[i]), Number(b[i])];
    // Arithmetic on drawn inputs may end in NaN, as that of masks without a place: the same there is right.
    if (!Number.isFinite(x) && Object.is(x, y)) continue;
    if (!Number.isFinite(x) || !Number.isFinite(y)) return Number.POSITIVE_INFINITY;
    scale = Math.max(scale, Math.abs(x));
    difference = Math.max(difference, Math.abs(x - y));
  }
  return difference === 0 ? 0 : difference / Math.max(scale, Number.MIN_VALUE);
}

/**
 * The same for inputs that may be NaN, infinite or large: infinite where an output is a number and the reference is none;
 * elements that are no number in one of both do not count otherwise.
 */
export function extremeError(reference: readonly Tensor[], outputs: readonly Tensor[]): number {
  const errors = reference.map((expected) => {
    const found = outputs.find(({ name }) => name === expected.name);
    if (found === undefined || expected.dtype === "string" || found.dtype !== expected.dtype) {
      return maxRelativeError([expected], outputs);
    }
    const [a, b] = [expected, found].map((tensor) => Array.from(typedView(tensor) as ArrayLike<number>, Number));
    if (a!.some((x, at) => !Number.isFinite(x) && Number.isFinite(b![at]))) return Number.POSITIVE_INFINITY;
    const kept = a!.flatMap((x, at) => (Number.isFinite(x) && Number.isFinite(b![at]) ? [[x, b![at]!] as const] : []));
    const scale = kept.reduce((largest, [x]) => Math.max(largest, Math.abs(x)), Number.MIN_VALUE);
    return kept.reduce((worst, [x, y]) => Math.max(worst, Math.abs(x - y)), 0) / scale;
  });
  return Math.max(0, ...errors);
}

/**
 * How well answers agree with the originals, in [0, 1]: the share with the same largest element in every output. The only
 * element of an output is always its largest; for a float, 1 less the relative error counts instead, if that is less.
 * An error that backends may have among themselves counts as none, so that it decides no choice.
 */
export function measureFidelity(
  originals: readonly (readonly Tensor[])[],
  answers: readonly (readonly Tensor[])[],
): number {
  const singles = (originals[0] ?? []).filter(
    ({ dtype, shape }) => dtype.startsWith("float") && countElements(shape) === 1,
  );
  const shares = singles.map(({ name }) => {
    const named = (tensors: readonly Tensor[]) => tensors.find((tensor) => tensor.name === name);
    const error = relativeError(
      originals.flatMap((each) => named(each) ?? []),
      answers.map(named),
    );
    return error <= AGREEMENT ? 1 : Math.max(0, 1 - error);
  });
  return Math.min(measureSameTop(originals, answers), ...shares);
}

/** Share of answers in which every output has its largest element at the same place as the original. */
export function measureSameTop(
  originals: readonly (readonly Tensor[])[],
  answers: readonly (readonly Tensor[])[],
): number {
  const same = originals.filter((original, index) => isSameLargest(original, answers[index] ?? []));
  return same.length / originals.length;
}

function isSameLargest(original: readonly Tensor[], answer: readonly Tensor[]): boolean {
  return original.every((expected) => {
    const found = answer.find(({ name }) => name === expected.name);
    return found !== undefined && largestOf(found) === largestOf(expected);
  });
}

/**
 * Root mean square of all differences relative to that of the originals; the largest number where that is zero and they
 * differ, or where an answer is missing or no number.
 */
export function relativeError(originals: readonly Tensor[], answers: readonly (Tensor | undefined)[]): number {
  let [squares, differences] = [0, 0];
  for (const [index, original] of originals.entries()) {
    const answer = answers[index];
    if (answer === undefined) return Number.MAX_VALUE;
    if (original.dtype === "string") continue;
    const [wanted, found] = [typedView(original), typedView(answer)];
    for (let at = 0; at < wanted.length; at++) {
      squares += Number(wanted[at]) ** 2;
      differences += (Number(wanted[at]) - Number(found[at])) ** 2;
    }
  }
  if (differences === 0) return 0;
  const error = Math.sqrt(differences / squares);
  return Number.isFinite(error) ? error : Number.MAX_VALUE;
}

/** Index of the largest element, the first of equal ones; for strings their text, for one whole number itself. */
function largestOf(tensor: Tensor): number | string {
  if (tensor.dtype === "string") return unpackStrings(tensor.bytes).join("\0");
  const values = typedView(tensor);
  if (values.length === 1 && !tensor.dtype.startsWith("float")) return String(values[0]);
  let largest = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[largest]!) largest = i;
  return largest;
}
