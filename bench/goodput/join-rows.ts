import type { Tensor } from "../../src/protocol/tensor.ts";

/** Stacks the inputs of requests of one row each along their first dimension. */
export function joinRows(requests: readonly (readonly Tensor[])[]): Tensor[] {
  const [first = []] = requests;
  if (requests.length === 1) return [...first];
  return first.map((tensor, index) => {
    const { byteLength } = tensor.bytes;
    const bytes = new Uint8Array(byteLength * requests.length);
    for (const [row, tensors] of requests.entries()) bytes.set(tensors[index]!.bytes, row * byteLength);
    return { ...tensor, shape: [requests.length, ...tensor.shape.slice(1)], bytes };
  });
}

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
