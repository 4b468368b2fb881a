import { z } from "zod";
import { LIMITS } from "./limits.ts";

/** Element types of fixed size that cross the wire, with their sizes; the names are ONNX's. */
export const DTYPE_BYTES = {
  float16: 2,
  float32: 4,
  float64: 8,
  int8: 1,
  uint8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  uint64: 8,
  bool: 1,
} as const;
export type FixedDType = keyof typeof DTYPE_BYTES;

/** Element types. Each element of a `string` tensor is a u32 length and that many bytes of UTF-8. */
export const DType = z.enum([...(Object.keys(DTYPE_BYTES) as [FixedDType]), "string"]).meta({ id: "DType" });
export type DType = z.infer<typeof DType>;

export const Shape = z.array(z.number().int().min(0)).max(LIMITS.tensorRank);

/** Name, type and shape of a tensor whose bytes follow the header, row-major and little-endian. */
export const TensorHeader = z.object({
  name: z.string().min(1).max(LIMITS.tensorNameLength),
  dtype: DType,
  shape: Shape,
});
export type TensorHeader = z.infer<typeof TensorHeader>;

/** A tensor with its bytes (row-major, little-endian). */
export interface Tensor extends TensorHeader {
  readonly bytes: Uint8Array;
}

/** Elements of a tensor as JSON, which `tensorFromJson` checks: a schema of each would take as long again. */
export const JsonData = z.custom<any[]>(Array.isArray, "must be an array").meta({ type: "array", items: {} });

const jsonTensorFields = {
  dtype: DType.default("float32"),
  shape: Shape.optional(),
  data: JsonData.meta({ description: "Numbers, flat or nested, row-major" }),
};

/** A tensor as JSON; `data` is flat or nested, row-major. */
export const JsonTensor = z.object(jsonTensorFields).meta({ id: "Tensor" });
/** A tensor in a request: an unknown field is an error. */
export const JsonTensorInput = z.strictObject(jsonTensorFields).meta({ id: "TensorInput" });
export type JsonTensor = z.infer<typeof JsonTensor>;

/**
 * 1 to `most` numbers as JSON that become float32. Reports only the first wrong one: a body may hold very many.
 */
export function float32Numbers(most: number) {
  return z
    .array(z.custom<number>().meta({ type: "number" }))
    .min(1)
    .max(most)
    .superRefine((values, context) => {
      const wrong = values.findIndex((value) => !Number.isFinite(value) || !Number.isFinite(Math.fround(value)));
      if (wrong < 0) return;
      const message = Number.isFinite(values[wrong])
        ? "must be within float32, below 3.4028235e38"
        : "must be a number";
      context.addIssue({ code: "custom", path: [wrong], message });
    });
}

/** Number of elements of a shape. */
export function countElements(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

export type TensorResult = { ok: true; tensor: Tensor } | { ok: false; message: string };

/**
 * Reads a JSON tensor. The shape is taken from the nesting where none is given; every element must
 * be a finite number (or a boolean for `bool`) that the type can hold.
 */
export function tensorFromJson(name: string, json: JsonTensor): TensorResult {
  const nested = measureNesting(json.data);
  if (nested === null) return { ok: false, message: "data is not evenly nested" };
  const shape = json.shape ?? nested;
  if (nested.length > 1 && json.shape !== undefined && nested.join() !== json.shape.join()) {
    return { ok: false, message: `data is nested as [${nested.join(", ")}], shape says [${json.shape.join(", ")}]` };
  }
  const elements = countElements(nested);
  if (countElements(shape) !== elements) {
    return {
      ok: false,
      message: `shape [${shape.join(", ")}] wants ${countElements(shape)} elements, data has ${elements}`,
    };
  }
  // A copy of millions of numbers would take as much memory again.
  const flat = nested.length === 1 ? json.data : (json.data.flat(nested.length - 1) as unknown[]);
  if (json.dtype === "string") {
    const wrong = flat.findIndex((value) => typeof value !== "string");
    if (wrong >= 0) return { ok: false, message: `element ${wrong} is not a string` };
    return { ok: true, tensor: { name, dtype: json.dtype, shape, bytes: packStrings(flat as string[]) } };
  }
  const array = createTypedArray(json.dtype, flat.length);
  for (let i = 0; i < flat.length; i++) {
    const value = toElement(json.dtype, flat[i]);
    if (value === null) return { ok: false, message: `element ${i} is not a ${json.dtype}` };
    array[i] = value as never;
  }
  return { ok: true, tensor: { name, dtype: json.dtype, shape, bytes: new Uint8Array(array.buffer) } };
}

/** Writes a tensor as JSON with flat data. 64-bit integers outside the safe range lose digits. */
export function tensorToJson(tensor: Tensor): JsonTensor {
  if (tensor.dtype === "string") return { dtype: tensor.dtype, shape: tensor.shape, data: unpackStrings(tensor.bytes) };
  return { dtype: tensor.dtype, shape: tensor.shape, data: elementsOf(tensor.dtype, typedView(tensor)) };
}

/** Elements of a tensor for JSON, as `tensorToJson` writes them, made only when they are written. */
export class TensorData {
  readonly #tensor: Tensor;

  constructor(tensor: Tensor) {
    this.#tensor = tensor;
  }

  /** All of them in portions of at most so many. */
  *portions(most: number): Generator<JsonTensor["data"]> {
    const tensor = this.#tensor;
    if (tensor.dtype === "string") return yield* portionsOfStrings(tensor.bytes, most);
    const view = typedView(tensor);
    for (let first = 0; first < view.length; first += most)
      yield elementsOf(tensor.dtype, view.subarray(first, first + most));
  }

  toJSON(): JsonTensor["data"] {
    return tensorToJson(this.#tensor).data;
  }
}

function* portionsOfStrings(bytes: Uint8Array, most: number): Generator<string[]> {
  for (let start = 0; start < bytes.byteLength;) {
    let end = start;
    for (let count = 0; count < most && end < bytes.byteLength; count++)
      end = stringEnd(bytes, end) ?? bytes.byteLength;
    yield unpackStrings(bytes.subarray(start, end));
    start = end;
  }
}

function elementsOf(dtype: DType, view: ElementArray): (number | boolean)[] {
  return Array.from(view as ArrayLike<number | bigint>, (value) => (dtype === "bool" ? value !== 0 : Number(value)));
}

const LENGTH_BYTES = 4;

/** Strings as the bytes of a `string` tensor. */
export function packStrings(strings: readonly string[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const encoded = strings.map((string) => encoder.encode(string));
  const bytes = new Uint8Array(encoded.reduce((total, each) => total + LENGTH_BYTES + each.byteLength, 0));
  const view = new DataView(bytes.buffer);
  let offset = 0;
  for (const each of encoded) {
    view.setUint32(offset, each.byteLength, true);
    bytes.set(each, offset + LENGTH_BYTES);
    offset += LENGTH_BYTES + each.byteLength;
  }
  return bytes;
}

/** The elements of a `string` tensor; what is not UTF-8 is replaced. The lengths must be right. */
export function unpackStrings(bytes: Uint8Array): string[] {
  const decoder = new TextDecoder();
  const strings: string[] = [];
  for (let offset = 0; offset < bytes.byteLength;) {
    const end = stringEnd(bytes, offset);
    if (end === null) throw new RangeError("a string ends outside of its tensor");
    strings.push(decoder.decode(bytes.subarray(offset + LENGTH_BYTES, end)));
    offset = end;
  }
  return strings;
}

/**
 * Length in bytes of elements that begin at `offset`; null where the bytes end before they do. The length of strings is
 * read from the bytes.
 */
export function measureElements(dtype: DType, elements: number, bytes: Uint8Array, offset: number): number | null {
  if (dtype !== "string") {
    const length = elements * DTYPE_BYTES[dtype];
    return offset + length <= bytes.byteLength ? length : null;
  }
  let end = offset;
  for (let element = 0; element < elements; element++) {
    const next = stringEnd(bytes, end);
    if (next === null) return null;
    end = next;
  }
  return end - offset;
}

/** End of the string that begins at `offset`; null where it lies outside. */
function stringEnd(bytes: Uint8Array, offset: number): number | null {
  if (offset + LENGTH_BYTES > bytes.byteLength) return null;
  const length = new DataView(bytes.buffer, bytes.byteOffset + offset).getUint32(0, true);
  const end = offset + LENGTH_BYTES + length;
  return end <= bytes.byteLength ? end : null;
}

type ElementArray =
  | Float16Array
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/** A typed array over the tensor's bytes, copied only where the bytes are not aligned. Throws for strings. */
export function typedView({ bytes, dtype }: Tensor): ElementArray {
  if (dtype === "string") throw new TypeError("strings have no typed array");
  // A Node Buffer's own `slice` would be a view, not a copy.
  const aligned = bytes.byteOffset % DTYPE_BYTES[dtype] === 0 ? bytes : new Uint8Array(bytes);
  return createTypedArray(dtype, aligned.byteLength / DTYPE_BYTES[dtype], aligned.buffer, aligned.byteOffset);
}

function createTypedArray(
  dtype: FixedDType,
  length: number,
  buffer: ArrayBufferLike = new ArrayBuffer(length * DTYPE_BYTES[dtype]),
  offset = 0,
): ElementArray {
  switch (dtype) {
    case "float16":
      return new Float16Array(buffer, offset, length);
    case "float32":
      return new Float32Array(buffer, offset, length);
    case "float64":
      return new Float64Array(buffer, offset, length);
    case "int8":
      return new Int8Array(buffer, offset, length);
    case "uint8":
    case "bool":
      return new Uint8Array(buffer, offset, length);
    case "int16":
      return new Int16Array(buffer, offset, length);
    case "uint16":
      return new Uint16Array(buffer, offset, length);
    case "int32":
      return new Int32Array(buffer, offset, length);
    case "uint32":
      return new Uint32Array(buffer, offset, length);
    case "int64":
      return new BigInt64Array(buffer, offset, length);
    case "uint64":
      return new BigUint64Array(buffer, offset, length);
  }
}

/** Sizes of evenly nested arrays; null where they are uneven or too deep. */
function measureNesting(data: readonly unknown[], depth = 1): number[] | null {
  if (depth > LIMITS.tensorRank) return null;
  if (!Array.isArray(data[0])) return data.some(Array.isArray) ? null : [data.length];
  let inner: number[] | null = null;
  for (const row of data) {
    if (!Array.isArray(row)) return null;
    const shape = measureNesting(row, depth + 1);
    if (shape === null || (inner !== null && inner.join() !== shape.join())) return null;
    inner = shape;
  }
  return [data.length, ...(inner ?? [])];
}

const INTEGER_RANGES: Partial<Record<DType, readonly [number, number]>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int16: [-(2 ** 15), 2 ** 15 - 1],
  uint16: [0, 2 ** 16 - 1],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  uint32: [0, 2 ** 32 - 1],
  uint64: [0, Number.MAX_SAFE_INTEGER],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};

function toElement(dtype: DType, value: unknown): number | bigint | null {
  if (dtype === "bool") return value === true || value === 1 ? 1 : value === false || value === 0 ? 0 : null;
  if (typeof value !== "number" || !Number.isFinite(value)) return null;
  if (dtype === "float16") return Number.isFinite(Math.f16round(value)) ? value : null;
  if (dtype === "float32") return Number.isFinite(Math.fround(value)) ? value : null;
  const range = INTEGER_RANGES[dtype];
  if (range === undefined) return value;
  if (!Number.isInteger(value) || value < range[0] || value > range[1]) return null;
  return dtype === "int64" || dtype === "uint64" ? BigInt(value) : value;
}
