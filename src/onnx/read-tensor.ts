import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { eachField, eachPacked } from "./each-field.ts";
import { countElements, DTYPES, ELEMENTS, type OnnxDtype, type OnnxTensor, sizeInBytes } from "./onnx-model.ts";

/** Field numbers of TensorProto. */
const TENSOR = {
  dims: 1,
  type: 2,
  floats: 4,
  int32s: 5,
  int64s: 7,
  name: 8,
  raw: 9,
  doubles: 10,
  uint64s: 11,
} as const;
const EXTERNAL = { data: 13, location: 14 } as const;
const MAX_RANK = 8;
const MAX_ELEMENTS = 2 ** 28;
const MAX_BYTES = 2 ** 31;

/** The list that holds numbers of a type; smaller whole numbers and the bits of half floats share one. */
function listOf(dtype: OnnxDtype): number {
  if (dtype === "float32") return TENSOR.floats;
  if (dtype === "float64") return TENSOR.doubles;
  if (dtype === "int64") return TENSOR.int64s;
  return dtype === "uint64" || dtype === "uint32" ? TENSOR.uint64s : TENSOR.int32s;
}

/** What may be read of tensors. */
export interface Allowance {
  /** Bytes of lists that may still be copied; each read reduces it. */
  bytes: number;
  /** Whether tensors may lie elsewhere, as those of an outline do: they are then left out. */
  readonly isOutline?: boolean;
}

/** Reader of one list element by data type, where numbers are not stored as raw bytes. */
const LISTS: Readonly<Record<number, (reader: BinaryReader, view: DataView, at: number, bytes: number) => void>> = {
  [TENSOR.floats]: (reader, view, at) => view.setFloat32(at, reader.float(), true),
  [TENSOR.doubles]: (reader, view, at) => view.setFloat64(at, reader.double(), true),
  [TENSOR.int64s]: (reader, view, at) => view.setBigInt64(at, BigInt(reader.int64()), true),
  [TENSOR.uint64s]: (reader, view, at, bytes) => {
    if (bytes === 8) view.setBigUint64(at, BigInt(reader.uint64()), true);
    else view.setUint32(at, Number(reader.uint64()), true);
  },
  // Smaller whole numbers and the bits of half floats.
  [TENSOR.int32s]: (reader, view, at, bytes) => {
    const value = reader.int32();
    if (bytes === 4) view.setInt32(at, value, true);
    else if (bytes === 2) view.setUint16(at, value & 0xffff, true);
    else view.setUint8(at, value & 0xff);
  },
};

/**
 * Reads a TensorProto; raw bytes are a view of the message. Throws a RangeError where it does not hold what it says, or
 * more than is allowed, or keeps it elsewhere without being part of an outline.
 */
export function readTensor(message: Uint8Array, allowance: Allowance = { bytes: MAX_BYTES }): OnnxTensor {
  let name = "";
  let type = 0;
  let raw: Uint8Array | null = null;
  const dims: number[] = [];
  const lists: NumberList[] = [];
  let isElsewhere = false;
  eachField(message, (field, wire, reader) => {
    if (field === TENSOR.name && wire === WireType.LengthDelimited) name = reader.string();
    else if (field === TENSOR.type && wire === WireType.Varint) type = reader.int32();
    else if (field === TENSOR.dims) eachPacked(reader, wire, (each) => addSize(dims, each.int64()));
    else if (field === TENSOR.raw && wire === WireType.LengthDelimited) raw = reader.bytes();
    else if (field === EXTERNAL.location && wire === WireType.Varint) isElsewhere ||= reader.int32() !== 0;
    else if (field === EXTERNAL.data) {
      isElsewhere = true;
      reader.skip(wire, field);
    } else if (field in LISTS) {
      const start = reader.pos;
      reader.skip(wire, field);
      lists.push({ field, wire, bytes: message.subarray(start, reader.pos) });
    } else reader.skip(wire, field);
  });
  if (isElsewhere && allowance.isOutline !== true) throw new RangeError(`the tensor ${name} lies in another file`);
  const dtype = DTYPES.get(type);
  if (dtype === undefined) throw new RangeError(`the tensor ${name} has a type that is not known`);
  const tensor = { name, dtype, dims };
  if (dtype === "string") return { ...tensor, bytes: new Uint8Array() };
  if (isElsewhere) return { ...tensor, bytes: new Uint8Array(), isLeftOut: true };
  const bytes = raw ?? collect(tensor, lists, allowance);
  if (bytes.length !== sizeInBytes(dtype, countElements(dims))) {
    throw new RangeError(`the tensor ${name} does not hold the numbers that it says`);
  }
  return { ...tensor, bytes };
}

/** A field of numbers as it stands in the message, with its length before it where it is packed. */
interface NumberList {
  readonly field: number;
  readonly wire: WireType;
  readonly bytes: Uint8Array;
}

function collect(
  { name, dtype, dims }: Omit<OnnxTensor, "bytes">,
  lists: readonly NumberList[],
  allowance: Allowance,
): Uint8Array {
  // Elements of less than a byte share one number.
  const numbers = ELEMENTS[dtype].bits < 8 ? sizeInBytes(dtype, countElements(dims)) : countElements(dims);
  const size = Math.max(1, ELEMENTS[dtype].bits / 8);
  const listed = lists.reduce((sum, { bytes }) => sum + bytes.length, 0);
  // Each takes a byte at least: what is promised and not there is not made room for.
  if (numbers > listed) throw new RangeError(`the tensor ${name} does not hold the numbers that it says`);
  allowance.bytes -= numbers * size;
  if (allowance.bytes < 0) throw new RangeError(`the tensor ${name} and those before it take too much room`);
  const bytes = new Uint8Array(numbers * size);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { field, wire, bytes: list } of lists) {
    if (field !== listOf(dtype)) throw new RangeError(`the tensor ${name} lists numbers of another type`);
    eachPacked(new BinaryReader(list), wire, (reader) => {
      LISTS[field]!(reader, view, at, size);
      at += size;
    });
  }
  return at === bytes.length ? bytes : bytes.subarray(0, at);
}

export function addSize(dims: number[], size: bigint | string): void {
  const value = Number(size);
  const isFew = value === 0 || countElements(dims) * value <= MAX_ELEMENTS;
  if (!Number.isSafeInteger(value) || value < 0 || dims.length >= MAX_RANK || !isFew) {
    throw new RangeError("a tensor has no shape that can be");
  }
  dims.push(value);
}
