import { z } from "@hono/zod-openapi";
import { LIMITS } from "./limits.ts";

/** Element types that cross the wire, with their sizes; the names are ONNX's. */
export const DTYPE_BYTES = {
  float32: 4,
  float16: 2,
  float64: 8,
  int8: 1,
  uint8: 1,
  int32: 4,
  int64: 8,
  bool: 1,
} as const;

export const DType = z.enum(Object.keys(DTYPE_BYTES) as [keyof typeof DTYPE_BYTES]).openapi("DType");
export type DType = keyof typeof DTYPE_BYTES;

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

const jsonTensorFields = {
  dtype: DType.default("float32"),
  shape: Shape.optional(),
  data: z.array(z.any()).openapi({ description: "Numbers, flat or nested, row-major" }),
};

/** A tensor as JSON; `data` is flat or nested, row-major. */
export const JsonTensor = z.object(jsonTensorFields).openapi("Tensor");
/** A tensor that somebody sends: a field that is not known is a mistake. */
export const JsonTensorInput = z.strictObject(jsonTensorFields).openapi("TensorInput");
export type JsonTensor = z.infer<typeof JsonTensor>;

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
  const flat: unknown[] = [];
  const nested = measureNesting(json.data, flat);
  if (nested === null) return { ok: false, message: "data is not evenly nested" };
  const shape = json.shape ?? nested;
  if (nested.length > 1 && json.shape !== undefined && nested.join() !== json.shape.join()) {
    return { ok: false, message: `data is nested as [${nested.join(", ")}], shape says [${json.shape.join(", ")}]` };
  }
  if (countElements(shape) !== flat.length) {
    return {
      ok: false,
      message: `shape [${shape.join(", ")}] wants ${countElements(shape)} elements, data has ${flat.length}`,
    };
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
  const view = typedView(tensor);
  const data = Array.from(view as ArrayLike<number | bigint>, (value) =>
    tensor.dtype === "bool" ? value !== 0 : Number(value),
  );
  return { dtype: tensor.dtype, shape: tensor.shape, data };
}

type ElementArray = Float32Array | Float16Array | Float64Array | Int8Array | Uint8Array | Int32Array | BigInt64Array;

/** A typed array over the tensor's bytes, copied only where the bytes are not aligned. */
export function typedView(tensor: Tensor): ElementArray {
  const { bytes, dtype } = tensor;
  // A Node Buffer's own `slice` would be a view, not a copy.
  const aligned = bytes.byteOffset % DTYPE_BYTES[dtype] === 0 ? bytes : new Uint8Array(bytes);
  return createTypedArray(dtype, aligned.byteLength / DTYPE_BYTES[dtype], aligned.buffer, aligned.byteOffset);
}

function createTypedArray(
  dtype: DType,
  length: number,
  buffer: ArrayBufferLike = new ArrayBuffer(length * DTYPE_BYTES[dtype]),
  offset = 0,
): ElementArray {
  switch (dtype) {
    case "float32":
      return new Float32Array(buffer, offset, length);
    case "float16":
      return new Float16Array(buffer, offset, length);
    case "float64":
      return new Float64Array(buffer, offset, length);
    case "int8":
      return new Int8Array(buffer, offset, length);
    case "uint8":
    case "bool":
      return new Uint8Array(buffer, offset, length);
    case "int32":
      return new Int32Array(buffer, offset, length);
    case "int64":
      return new BigInt64Array(buffer, offset, length);
  }
}

/** Flattens evenly nested arrays; null where they are uneven or too deep. */
function measureNesting(data: readonly unknown[], flat: unknown[], depth = 1): number[] | null {
  if (depth > LIMITS.tensorRank) return null;
  if (!Array.isArray(data[0])) {
    for (const value of data) {
      if (Array.isArray(value)) return null;
      flat.push(value);
    }
    return [data.length];
  }
  let inner: number[] | null = null;
  for (const row of data) {
    if (!Array.isArray(row)) return null;
    const shape = measureNesting(row, flat, depth + 1);
    if (shape === null || (inner !== null && inner.join() !== shape.join())) return null;
    inner = shape;
  }
  return [data.length, ...(inner ?? [])];
}

const INTEGER_RANGES: Partial<Record<DType, readonly [number, number]>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};

function toElement(dtype: DType, value: unknown): number | bigint | null {
  if (dtype === "bool") return value === true || value === 1 ? 1 : value === false || value === 0 ? 0 : null;
  if (typeof value !== "number" || !Number.isFinite(value)) return null;
  if (dtype === "float32") return Number.isFinite(Math.fround(value)) ? value : null;
  if (dtype === "float16") return Number.isFinite(Math.f16round(value)) ? value : null;
  const range = INTEGER_RANGES[dtype];
  if (range === undefined) return value;
  if (!Number.isInteger(value) || value < range[0] || value > range[1]) return null;
  return dtype === "int64" ? BigInt(value) : value;
}
