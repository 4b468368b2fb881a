import { countElements } from "../../onnx/onnx-model.ts";

/** Tells for an element's place in a tensor, row by row, its place along one axis. */
export function alongAxis(dims: readonly number[], axis: number): (place: number) => number {
  const inner = countElements(dims.slice(axis + 1));
  return (place) => Math.floor(place / inner) % dims[axis]!;
}

/** The largest magnitude at each place of an axis. */
export function absmaxAlong(values: Float32Array, dims: readonly number[], axis: number): Float32Array {
  const placeOf = alongAxis(dims, axis);
  const largest = new Float32Array(dims[axis]!);
  for (const [place, value] of values.entries()) {
    const at = placeOf(place);
    largest[at] = Math.max(largest[at]!, Math.abs(value));
  }
  return largest;
}
