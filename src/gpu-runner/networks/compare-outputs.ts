import { type Tensor, typedView, unpackStrings } from "../../protocol/wire/tensor.ts";

/**
 * Backends and batches may sum in another order, which shows in f32 at about this size. Wrong kernels differ far more.
 */
export const AGREEMENT = 1e-3;

/**
 * Largest difference between two sets of outputs, relative to the largest magnitude of each
 * reference tensor; infinite where names, types or shapes differ or a value is not finite.
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
    if (!Number.isFinite(x) || !Number.isFinite(y)) return Number.POSITIVE_INFINITY;
    scale = Math.max(scale, Math.abs(x));
    difference = Math.max(difference, Math.abs(x - y));
  }
  return difference === 0 ? 0 : difference / Math.max(scale, Number.MIN_VALUE);
}

/** Share of answers in which every output has its largest element at the same place as the original. */
export function measureFidelity(
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

/** Index of the largest element, the first of equal ones; for strings their text. */
function largestOf(tensor: Tensor): number | string {
  if (tensor.dtype === "string") return unpackStrings(tensor.bytes).join("\0");
  const values = typedView(tensor);
  let largest = 0;
  for (let i = 1; i < values.length; i++) if (values[i]! > values[largest]!) largest = i;
  return largest;
}
