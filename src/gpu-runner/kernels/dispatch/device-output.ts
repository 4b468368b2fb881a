import type { KernelArray } from "../../../../kernels/kernel-spec.ts";
import type { KernelContext } from "./dispatch.ts";
import { createLike, KERNEL_ARRAYS, unpadValues } from "./padded-layout.ts";
import { type BufferPiece, readPieces } from "../../devices/gpu/readback.ts";
import type { BoundBuffer } from "./upload-part.ts";

/** `write` binding in device memory. */
export interface DeviceOutput {
  readonly name: string;
  /** In order; several where the problem runs in parts. */
  readonly pieces: readonly BufferPiece[];
  readonly sizeBytes: number;
  /** Dense values from a copy of all pieces' bytes. */
  unpack(bytes: ArrayBuffer): KernelArray;
}

/** Output made of its pieces in the order of the parts. */
export function toOutput(bound: readonly BoundBuffer[]): DeviceOutput {
  const { name, dtype } = bound[0]!.binding;
  return {
    name,
    pieces: bound.map(({ buffer, layout: { sizeBytes } }) => ({ buffer, sizeBytes })),
    sizeBytes: bound.reduce((total, { layout }) => total + layout.sizeBytes, 0),
    unpack(bytes) {
      let offset = 0;
      const values = bound.map(({ layout }) => {
        const start = offset;
        offset += layout.sizeBytes;
        const Values = KERNEL_ARRAYS[dtype];
        return unpadValues(new Values(bytes, start, layout.sizeBytes / Values.BYTES_PER_ELEMENT), layout);
      });
      return values.length === 1 ? values[0]! : concatenate(values);
    },
  };
}

function concatenate(arrays: readonly KernelArray[]): KernelArray {
  const joined = createLike(
    arrays[0]!,
    arrays.reduce((total, { length }) => total + length, 0),
  );
  let at = 0;
  for (const array of arrays) {
    joined.set(array, at);
    at += array.length;
  }
  return joined;
}

/** Reads the output of this name back. */
export async function readOutput(
  { device, pool, traffic }: KernelContext,
  outputs: readonly DeviceOutput[],
  name: string,
): Promise<KernelArray> {
  const output = outputs.find((candidate) => candidate.name === name);
  if (output === undefined) throw new TypeError(`there is no output '${name}'`);
  if (traffic !== undefined) traffic.readBackBytes += output.sizeBytes;
  if (output.sizeBytes <= device.limits.maxBufferSize) {
    return output.unpack(await readPieces(device, pool, output.pieces));
  }
  // One staging buffer is too small for all of it.
  const copies: ArrayBuffer[] = [];
  for (const piece of output.pieces) copies.push(await readPieces(device, pool, [piece]));
  return output.unpack(await new Blob(copies).arrayBuffer());
}
