import { seededUniform } from "./seeded-uniform.ts";

/** `length` integers from `lowest` to `highest`, both included; at most 2²⁴ different ones. Streams as `seededUniform`. */
export function seededIntegers(
  seed: number,
  stream: number,
  length: number,
  lowest: number,
  highest: number,
): Int32Array<ArrayBuffer> {
  const uniform = seededUniform(seed, stream, length);
  const count = highest - lowest + 1;
  return new Int32Array(length).map((_, i) => lowest + Math.floor(((uniform[i]! + 1) / 2) * count));
}
