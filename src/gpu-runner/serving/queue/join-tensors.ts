import type { PlacedModel } from "../../../protocol/link.ts";
import type { TensorSpec } from "../../../protocol/models/model.ts";
import { countElements, measureElements, type Tensor } from "../../../protocol/wire/tensor.ts";

/** Whether a model says of all its inputs and outputs that their leading dimension is free: rows of a batch, perhaps. */
export function hasRows({ inputs, outputs }: Pick<PlacedModel, "inputs" | "outputs">): boolean {
  const isFree = ({ shape }: TensorSpec) => shape[0] === -1;
  return inputs.length > 0 && inputs.every(isFree) && outputs.every(isFree);
}

/** The leading dimension that all tensors of a request have in common; null where they have none. */
export function rowsOf(tensors: readonly Tensor[]): number | null {
  const rows = tensors[0]?.shape[0];
  return rows !== undefined && rows > 0 && tensors.every(({ shape }) => shape[0] === rows) ? rows : null;
}

/** What requests have to have in common to be joined: names, types and all dimensions but the leading one. */
export function rowShapeOf(tensors: readonly Tensor[]): string {
  const parts = tensors.map(({ name, dtype, shape }) => `${JSON.stringify(name)} ${dtype} ${shape.slice(1).join("x")}`);
  return parts.toSorted().join();
}

/** The tensors of several requests as those of one, rows after rows. Their `rowShapeOf` must be the same. */
export function joinTensors(requests: readonly (readonly Tensor[])[]): Tensor[] {
  const [first = []] = requests;
  return first.map(({ name, dtype, shape: [, ...rest] }) => {
    const parts = requests.map((tensors) => tensors.find((tensor) => tensor.name === name)!);
    const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.bytes.byteLength, 0));
    let offset = 0;
    for (const part of parts) {
      bytes.set(part.bytes, offset);
      offset += part.bytes.byteLength;
    }
    return { name, dtype, shape: [parts.reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0), ...rest], bytes };
  });
}

/**
 * Joined outputs as those of each request, by its rows; views of the same memory. Null where an output
 * has not as many rows as the requests together: these were not rows of a batch.
 */
export function splitRows(outputs: readonly Tensor[], rows: readonly number[]): Tensor[][] | null {
  const all = rows.reduce((sum, each) => sum + each, 0);
  const split: Tensor[][] = rows.map(() => []);
  for (const { name, dtype, shape, bytes } of outputs) {
    const [leading, ...rest] = shape;
    if (leading !== all) return null;
    let offset = 0;
    for (const [index, each] of rows.entries()) {
      const length = measureElements(dtype, each * countElements(rest), bytes, offset);
      if (length === null) return null;
      split[index]!.push({ name, dtype, shape: [each, ...rest], bytes: bytes.subarray(offset, offset + length) });
      offset += length;
    }
  }
  return split;
}
