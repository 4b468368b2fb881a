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
    const message = tensor === undefined ? `lacks the input ${spec.name}, ${describe(spec)}` : mismatch(spec, tensor);
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
  // Other sizes may be 0, as that of a decoder's cache before the first token.
  return spec.shape[0] === -1 && tensor.shape[0] === 0 ? "must have at least one row" : null;
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
 * Inputs of a model for measuring and comparing, at one of its measured sizes. Numbers are drawn from an input's
 * `values`; without them floats are uniform in [0, 1), and integers, booleans and strings 0 or 1. A free dimension
 * without a shape is 1. The same seed gives the same inputs everywhere (mulberry32).
 */
export function createSeededInputs(specs: readonly TensorSpec[], seed: number, size = 0): Tensor[] {
  return drawInputs(specs, mulberry32(seed), size);
}

function drawInputs(specs: readonly TensorSpec[], draw: () => number, size: number): Tensor[] {
  return specs.map((spec) => {
    const { name, dtype, values } = spec;
    const fixed = measuredShape(spec, size);
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
      const given = values?.[Math.floor(value * values.length)];
      if (view instanceof BigInt64Array || view instanceof BigUint64Array) {
        view[i] = BigInt(Math.trunc(given ?? Math.round(value)));
      } else view[i] = given ?? (dtype.startsWith("float") ? value : Math.round(value));
    }
    return tensor;
  });
}

/** Shape of an input at one of its measured sizes; an input with fewer of them keeps its last. */
export function measuredShape({ shape, shapes = [] }: TensorSpec, size: number): number[] {
  const measured = shapes[Math.min(size, shapes.length - 1)];
  return shape.map((each, axis) => (each === -1 ? (measured?.[axis] ?? 1) : each));
}

/** Number of sizes at which a model is measured: one, or as many as any of its inputs has shapes. */
export function countSizes(specs: readonly TensorSpec[]): number {
  return Math.max(1, ...specs.map(({ shapes = [] }) => shapes.length));
}

/** Elements of one row of a request, in all its tensors: a free first axis counts the rows. */
export function countRowElements(specs: readonly TensorSpec[], tensors: readonly TensorHeader[]): number {
  const hasRows = new Set(specs.flatMap(({ name, shape }) => (shape[0] === -1 ? [name] : [])));
  return tensors.reduce((sum, { name, shape }) => sum + countElements(hasRows.has(name) ? shape.slice(1) : shape), 0);
}

/** The same for a row of a model's inputs at one of its measured sizes. */
export function countMeasuredElements(specs: readonly TensorSpec[], size = 0): number {
  return countRowElements(
    specs,
    specs.map((spec) => ({ ...spec, shape: measuredShape(spec, size) })),
  );
}

/** Spreads of seeded floats that are negative, too, and large ones. */
const SPREADS = [8, 2_000];
const NON_FINITE = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

/**
 * Inputs beyond those that `createSeededInputs` draws, by sets: floats around 0, near and far, and the near ones with
 * one element of each tensor that is NaN or infinite.
 */
export function createExtremeInputs(specs: readonly TensorSpec[], seed: number): Tensor[][] {
  const around = (spread: number) => {
    const tensors = createSeededInputs(specs, seed);
    for (const values of tensors.map(floatsIn)) values?.forEach((value, at) => (values[at] = spread * (value - 0.5)));
    return tensors;
  };
  const spoilt = NON_FINITE.map((value) => {
    const tensors = around(SPREADS[0]!);
    for (const values of tensors.map(floatsIn)) if (values !== null) values[seed % values.length] = value;
    return tensors;
  });
  return [...SPREADS.map(around), ...(specs.some(({ dtype }) => dtype.startsWith("float")) ? spoilt : [])];
}

/**
 * Rows that differ much: factors of seeded floats, and a fixed draw in [0, 1) of all other numbers, which is their least
 * or greatest.
 */
const UNLIKE_ROWS: readonly { readonly factor: number; readonly draw?: number }[] = [
  { factor: 1 },
  { factor: 1 },
  { factor: -1, draw: 0 },
  { factor: 100, draw: 1 - 2 ** -32 },
  { factor: -100 },
];

/**
 * Inputs of one row each for a proof that rows are computed by themselves. Floats are of both signs, small and large, so
 * that a branch that depends on them goes both ways; inputs with `values` have only those.
 */
export function createUnlikeInputs(specs: readonly TensorSpec[]): Tensor[][] {
  return UNLIKE_ROWS.map(({ factor, draw }, index) => {
    const seeded = createSeededInputs(specs, index + 1);
    const others = draw === undefined ? seeded : drawInputs(specs, () => draw, 0);
    return seeded.map((tensor, at) => {
      const floats = specs[at]?.values === undefined ? floatsIn(tensor) : null;
      if (floats === null) return others[at]!;
      floats.forEach((value, element) => (floats[element] = factor * value));
      return tensor;
    });
  });
}

function floatsIn(tensor: Tensor): Float32Array | Float64Array | null {
  if (tensor.dtype === "string") return null;
  const view = typedView(tensor);
  return view instanceof Float32Array || view instanceof Float64Array ? view : null;
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
