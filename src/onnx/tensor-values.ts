import { countElements, type OnnxNode, type OnnxTensor } from "./onnx-model.ts";

/** A copy of the numbers of a tensor of floats, as float32; throws a RangeError for other types. */
export function floatsOf({ name, dtype, bytes, isLeftOut }: OnnxTensor): Float32Array<ArrayBuffer> {
  if (isLeftOut) throw new RangeError(`the numbers of the tensor ${name} were not read`);
  const { buffer } = new Uint8Array(bytes);
  if (dtype === "float32") return new Float32Array(buffer);
  if (dtype === "float64") return Float32Array.from(new Float64Array(buffer));
  if (dtype === "float16") return Float32Array.from(new Float16Array(buffer));
  throw new RangeError(`the tensor ${name} holds ${dtype}, and no floats`);
}

/** The whole numbers of a tensor; throws a RangeError for other types, and where one is not exact. */
export function integersOf({ name, dtype, bytes, dims, isLeftOut }: OnnxTensor): number[] {
  if (isLeftOut) throw new RangeError(`the numbers of the tensor ${name} were not read`);
  const { buffer } = new Uint8Array(bytes);
  if (dtype === "int64") return Array.from(new BigInt64Array(buffer), Number).map((value) => exact(name, value));
  if (dtype === "uint64") return Array.from(new BigUint64Array(buffer), Number).map((value) => exact(name, value));
  if (dtype === "int32") return [...new Int32Array(buffer)];
  if (dtype === "uint32") return [...new Uint32Array(buffer)];
  if (dtype === "int16") return [...new Int16Array(buffer)];
  if (dtype === "uint16") return [...new Uint16Array(buffer)];
  if (dtype === "int8") return [...new Int8Array(buffer)];
  if (dtype === "uint8" || dtype === "bool") return [...bytes];
  if (dtype === "uint4") return halvesOf(bytes, countElements(dims));
  if (dtype === "int4") return halvesOf(bytes, countElements(dims)).map((half) => (half < 8 ? half : half - 16));
  throw new RangeError(`the tensor ${name} holds ${dtype}, and no whole numbers`);
}

/** A tensor of float32. */
export function floatTensor(name: string, dims: readonly number[], values: Float32Array): OnnxTensor {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { name, dtype: "float32", dims, bytes };
}

/** A list of int64, such as a shape. */
export function integerTensor(name: string, values: readonly number[]): OnnxTensor {
  const bytes = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
  return { name, dtype: "int64", dims: [values.length], bytes };
}

/** The tensor that a Constant stands for, in whichever way it says it; null of other nodes. */
export function constantTensor({ operator, attributes }: OnnxNode): OnnxTensor | null {
  if (operator !== "Constant") return null;
  const value = attributes.get("value");
  if (value?.kind === "tensor") return value.value;
  const [name, said] = [...attributes][0] ?? ["", undefined];
  if (said?.kind === "int" && name === "value_int") return listed("int64", [], [said.value]);
  if (said?.kind === "float" && name === "value_float") return listed("float32", [], [said.value]);
  if (said?.kind === "ints" && name === "value_ints") return listed("int64", [said.value.length], said.value);
  if (said?.kind === "floats" && name === "value_floats") return listed("float32", [said.value.length], said.value);
  return null;
}

function listed(dtype: "int64" | "float32", dims: readonly number[], values: readonly number[]): OnnxTensor {
  const numbers = dtype === "int64" ? BigInt64Array.from(values, BigInt) : Float32Array.from(values);
  return { name: "", dtype, dims, bytes: new Uint8Array(numbers.buffer) };
}

function exact(name: string, value: number): number {
  // "As far as there is" is written so in slices.
  if (!Number.isSafeInteger(value) && Math.abs(value) < 2 ** 62)
    throw new RangeError(`${name} has numbers that are too large`);
  return value;
}

/** The lower half of a byte comes first. */
function halvesOf(bytes: Uint8Array, count: number): number[] {
  return Array.from({ length: count }, (_, at) => (bytes[at >> 1]! >> (4 * (at & 1))) & 15);
}
