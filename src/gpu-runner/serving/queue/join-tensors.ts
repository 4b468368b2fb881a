import type { PlacedModel } from "../../../protocol/link.ts";
import type { TensorSpec } from "../../../protocol/models/model.ts";
import { countElements, measureElements, type Tensor } from "../../../protocol/wire/tensor.ts";

/** Whether all inputs and outputs of a model have a free leading dimension: possibly rows of a batch. */
export function hasRows({ inputs, outputs }: Pick<PlacedModel, "inputs" | "outputs">): boolean {
  const isFree = ({ shape }: TensorSpec) => shape[0] === -1;
  return inputs.length > 0 && inputs.every(isFree) && outputs.every(isFree);
}

/** Common leading dimension of a request's tensors; null where there is none. */
export function rowsOf(tensors: readonly Tensor[]): number | null {
  const rows = tensors[0]?.shape[0];
  return rows !== undefined && rows > 0 && tensors.every(({ shape }) => shape[0] === rows) ? rows : null;
}

/** Properties that joined requests must share: names, types and all dimensions but the leading one. */
export function rowShapeOf(tensors: readonly Tensor[]): string {
  const parts = tensors.map(({ name, dtype, shape }) => `${JSON.stringify(name)} ${dtype} ${shape.slice(1).join("x")}`);
  return parts.toSorted().join();
}

/** Tensors of several requests as those of one, rows after rows. Their `rowShapeOf` must be equal. */
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
 * Joined outputs split by each request's rows; views of the same memory. Null where an output does not have as many
 * rows as the requests together: these were not rows of a batch.
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
