import type { FieldError } from "../wire/problem.ts";
import { countElements, DTYPE_BYTES, packStrings, type Tensor, type TensorHeader, typedView } from "../wire/tensor.ts";
import type { TensorSpec } from "./model.ts";

/** JSON pointer of a tensor in the request, by its name. */
export type PointerOf = (name: string) => string;

/** Errors of a request's tensors for a model with inputs `specs`; empty where there are none. */
export function matchInputs(
  specs: readonly TensorSpec[],
  tensors: readonly TensorHeader[],
  pointerOf: PointerOf,
): FieldError[] {
  const errors: FieldError[] = [];
  const given = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  if (given.size < tensors.length) errors.push({ pointer: pointerOf(""), message: "two tensors have the same name" });
  for (const spec of specs) {
    const tensor = given.get(spec.name);
    given.delete(spec.name);
    const message = tensor === undefined ? `is missing: the model takes ${describe(spec)}` : mismatch(spec, tensor);
    if (message !== null) errors.push({ pointer: pointerOf(spec.name), message });
  }
  for (const name of given.keys()) {
    const known = specs.map((spec) => spec.name).join(", ");
    errors.push({ pointer: pointerOf(name), message: `is not an input of the model, which takes ${known}` });
  }
  return errors;
}

function mismatch(spec: TensorSpec, tensor: TensorHeader): string | null {
  if (tensor.dtype !== spec.dtype) return `must be ${spec.dtype}, not ${tensor.dtype}`;
  const fits =
    tensor.shape.length === spec.shape.length &&
    spec.shape.every((size, axis) => size === -1 || size === tensor.shape[axis]);
  if (!fits) return `must have the shape [${spec.shape.join(", ")}], not [${tensor.shape.join(", ")}]`;
  return tensor.shape.includes(0) ? "must not be empty" : null;
}

function describe(spec: TensorSpec): string {
  return `${spec.dtype} [${spec.shape.join(", ")}]`;
}

/** Items of a request along the batch dimension: the first extent of an input whose model leaves it free; else 1. */
export function countRows(specs: readonly TensorSpec[], tensors: readonly TensorHeader[]): number {
  const batched = specs.find(({ shape }) => shape[0] === -1);
  return tensors.find(({ name }) => name === batched?.name)?.shape[0] ?? 1;
}

/**
 * Inputs of a model for measuring and comparing: floats uniform in [0, 1), integers, booleans
 * and strings 0 or 1, free dimensions 1. The same seed gives the same inputs everywhere (mulberry32).
 */
export function createSeededInputs(specs: readonly TensorSpec[], seed: number): Tensor[] {
  const draw = mulberry32(seed);
  return specs.map(({ name, dtype, shape }) => {
    const fixed = shape.map((size) => (size === -1 ? 1 : size));
    if (dtype === "string") {
      const strings = Array.from({ length: countElements(fixed) }, () => String(Math.round(draw())));
      return { name, dtype, shape: fixed, bytes: packStrings(strings) };
    }
    const tensor: Tensor = {
      name,
      dtype,
      shape: fixed,
      bytes: new Uint8Array(countElements(fixed) * DTYPE_BYTES[dtype]),
    };
    const view = typedView(tensor);
    for (let i = 0; i < view.length; i++) {
      const value = draw();
      if (view instanceof BigInt64Array || view instanceof BigUint64Array) view[i] = value < 0.5 ? 0n : 1n;
      else view[i] = dtype.startsWith("float") ? value : Math.round(value);
    }
    return tensor;
  });
}

/** Tommy Ettinger's mulberry32: 32 bits of state, enough for inputs. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
