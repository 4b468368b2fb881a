import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { eachField } from "./each-field.ts";

/** Field numbers of TensorProto, and those of its data types that a dense network has (`onnx/onnx.proto`). */
const TENSOR = { dims: 1, dataType: 2, floats: 4, int64s: 7, name: 8, raw: 9 } as const;
const TYPES: ReadonlyMap<number, FileTensor["type"]> = new Map([
  [1, "float32"],
  [7, "int64"],
]);
const MAX_RANK = 8;

/** A tensor that stands in the file. Its numbers are neither read nor checked before they are wanted. */
export interface FileTensor {
  readonly name: string;
  readonly dims: readonly number[];
  readonly type: "float32" | "int64" | "other";
  /** Numbers as little-endian bytes, where they stand so. */
  readonly raw: Uint8Array | null;
  /** Whole numbers as varints. */
  readonly varints: Uint8Array;
}

/** Reads a TensorProto; throws where it is malformed. */
export function readTensor(message: Uint8Array): FileTensor {
  let name = "";
  let type: FileTensor["type"] = "other";
  let raw: Uint8Array | null = null;
  let varints: Uint8Array = new Uint8Array();
  const dims: number[] = [];
  eachField(message, (field, wire, reader) => {
    if (field === TENSOR.dims && wire === WireType.Varint) addSize(dims, reader.int64());
    else if (field === TENSOR.dims && wire === WireType.LengthDelimited) {
      for (const packed = new BinaryReader(reader.bytes()); packed.pos < packed.len;) addSize(dims, packed.int64());
    } else if (field === TENSOR.dataType && wire === WireType.Varint) type = TYPES.get(reader.int32()) ?? "other";
    else if (field === TENSOR.name && wire === WireType.LengthDelimited) name = reader.string();
    else if ((field === TENSOR.raw || field === TENSOR.floats) && wire === WireType.LengthDelimited) {
      raw = reader.bytes();
    } else if (field === TENSOR.int64s && wire === WireType.LengthDelimited) varints = reader.bytes();
    else reader.skip(wire, field);
  });
  return { name, dims, type, raw, varints };
}

/** Number of elements that a tensor says it has. */
export function sizeOf({ dims }: FileTensor): number {
  return dims.reduce((product, size) => product * size, 1);
}

/** A copy of the numbers of a `float32` tensor; throws where it has others or another number of them. */
export function floatsOf(tensor: FileTensor): Float32Array {
  const { type, raw } = tensor;
  if (type !== "float32" || raw?.byteLength !== sizeOf(tensor) * Float32Array.BYTES_PER_ELEMENT) {
    throw new RangeError("a tensor does not hold the floats that it says");
  }
  return new Float32Array(new Uint8Array(raw).buffer);
}

/** The numbers of an `int64` tensor of one dimension, such as a shape; throws where it is none. */
export function integersOf(tensor: FileTensor): number[] {
  const { type, raw, varints, dims } = tensor;
  const size = sizeOf(tensor);
  if (type !== "int64" || dims.length !== 1 || size > MAX_RANK) throw new RangeError("a tensor is no shape");
  if (raw !== null) return Array.from(new BigInt64Array(new Uint8Array(raw.subarray(0, 8 * size)).buffer), Number);
  const reader = new BinaryReader(varints);
  return Array.from({ length: size }, () => Number(reader.int64()));
}

function addSize(dims: number[], size: bigint | string): void {
  const value = Number(size);
  if (!Number.isSafeInteger(value) || value < 0 || dims.length >= MAX_RANK) {
    throw new RangeError("a tensor has no shape that can be");
  }
  dims.push(value);
}
