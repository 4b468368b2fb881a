import type { TensorSpec } from "./model.ts";
import { countElements, DTYPE_BYTES, packStrings, type Tensor, typedView } from "./tensor.ts";

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
