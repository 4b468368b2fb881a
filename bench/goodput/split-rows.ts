import type { Tensor } from "../../src/protocol/tensor.ts";

/** Cuts outputs of so many rows into those of the single requests. */
export function splitRows(outputs: readonly Tensor[], rows: number): Tensor[][] {
  return Array.from({ length: rows }, (_, row) =>
    outputs.map((tensor) => {
      const length = tensor.bytes.byteLength / rows;
      const bytes = tensor.bytes.slice(row * length, (row + 1) * length);
      return { ...tensor, shape: [1, ...tensor.shape.slice(1)], bytes };
    }),
  );
}
