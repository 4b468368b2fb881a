/** TensorProto.DataType of onnx.proto3 (onnx/onnx, `onnx/onnx.proto`), with the bits of one element; a string has no size. */
export const ELEMENTS = {
  float32: { code: 1, bits: 32 },
  uint8: { code: 2, bits: 8 },
  int8: { code: 3, bits: 8 },
  uint16: { code: 4, bits: 16 },
  int16: { code: 5, bits: 16 },
  int32: { code: 6, bits: 32 },
  int64: { code: 7, bits: 64 },
  string: { code: 8, bits: 0 },
  bool: { code: 9, bits: 8 },
  float16: { code: 10, bits: 16 },
  float64: { code: 11, bits: 64 },
  uint32: { code: 12, bits: 32 },
  uint64: { code: 13, bits: 64 },
  complex64: { code: 14, bits: 64 },
  complex128: { code: 15, bits: 128 },
  bfloat16: { code: 16, bits: 16 },
  float8e4m3fn: { code: 17, bits: 8 },
  float8e4m3fnuz: { code: 18, bits: 8 },
  float8e5m2: { code: 19, bits: 8 },
  float8e5m2fnuz: { code: 20, bits: 8 },
  uint4: { code: 21, bits: 4 },
  int4: { code: 22, bits: 4 },
  float4e2m1: { code: 23, bits: 4 },
  float8e8m0: { code: 24, bits: 8 },
  uint2: { code: 25, bits: 2 },
  int2: { code: 26, bits: 2 },
} as const;
export type OnnxDtype = keyof typeof ELEMENTS;

/** Element type by its code. */
export const DTYPES: ReadonlyMap<number, OnnxDtype> = new Map(
  Object.entries(ELEMENTS).map(([dtype, { code }]) => [code, dtype as OnnxDtype]),
);

/** A tensor that stands in a file. */
export interface OnnxTensor {
  readonly name: string;
  readonly dtype: OnnxDtype;
  readonly dims: readonly number[];
  /** Little-endian, row by row; elements of less than a byte begin with its lowest bits. Strings have none. */
  readonly bytes: Uint8Array;
  /** True of an outline's large tensors, which have no bytes here. */
  readonly isLeftOut?: true;
}

/** One attribute of a node. Kinds that are not computed with here, such as a graph, stay as bytes. */
export type OnnxAttribute =
  | { readonly kind: "float"; readonly value: number }
  | { readonly kind: "int"; readonly value: number }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "tensor"; readonly value: OnnxTensor }
  | { readonly kind: "floats"; readonly value: readonly number[] }
  | { readonly kind: "ints"; readonly value: readonly number[] }
  | { readonly kind: "strings"; readonly value: readonly string[] }
  | { readonly kind: "other"; readonly message: Uint8Array };

/** One operator. An input that is left out has the name "". */
export interface OnnxNode {
  readonly name: string;
  readonly operator: string;
  /** "" for ONNX's own operators. */
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, OnnxAttribute>;
}

/** Types of values that are not tensors; a sequence has tensors, and only maps stand in one otherwise. */
export type OnnxContainer = "sequence" | "sequence of maps" | "map" | "optional" | "sparse tensor" | "opaque";

/**
 * An input or output of the graph; a free dimension is its name, "" where it has none. A shape that the file leaves out is
 * `[]`. In a container, element type and shape are those of its tensors; maps and opaque values count as scalars of
 * float32.
 */
export interface OnnxValue {
  readonly name: string;
  readonly dtype: OnnxDtype;
  readonly shape: readonly (number | string)[];
  readonly container?: OnnxContainer;
}

/** Weights in the file that only name their elements which are not zero: their shape, without the elements. */
export type SparseWeights = Omit<OnnxTensor, "bytes">;

/** A network: its nodes in the order of the file, in which what a node needs comes before it. */
export interface OnnxModel {
  readonly irVersion: number;
  /** Version of ONNX's own operators; 0 where the file uses none of them. */
  readonly opset: number;
  /** Other operators' versions, by domain. */
  readonly domains: ReadonlyMap<string, number>;
  readonly name: string;
  readonly nodes: readonly OnnxNode[];
  readonly weights: ReadonlyMap<string, OnnxTensor>;
  readonly sparseWeights?: ReadonlyMap<string, SparseWeights>;
  /** Operators that the file itself defines, as `nameOperator` gives them. */
  readonly functions?: ReadonlySet<string>;
  /** Without those that have a value in `weights`, which old files list among them. */
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
}

/** An operator's name, with its domain before it where it is not ONNX's own: `com.microsoft.FusedGemm`. */
export function nameOperator({ domain, operator }: Pick<OnnxNode, "domain" | "operator">): string {
  return domain === "" ? operator : `${domain}.${operator}`;
}

/** Elements of a shape. */
export function countElements(dims: readonly number[]): number {
  return dims.reduce((product, size) => product * size, 1);
}

/** Bytes of a tensor of so many elements. */
export function sizeInBytes(dtype: OnnxDtype, elements: number): number {
  return Math.ceil((elements * ELEMENTS[dtype].bits) / 8);
}

/** A number, a list of numbers or a text that a node says, or what is meant where it says nothing. */
export function intOf({ attributes }: OnnxNode, name: string, otherwise: number): number {
  const found = attributes.get(name);
  return found?.kind === "int" ? found.value : otherwise;
}
export function intsOf({ attributes }: OnnxNode, name: string): readonly number[] | undefined {
  const found = attributes.get(name);
  return found?.kind === "ints" ? found.value : undefined;
}
export function floatOf({ attributes }: OnnxNode, name: string, otherwise: number): number {
  const found = attributes.get(name);
  return found?.kind === "float" ? found.value : otherwise;
}
export function textOf({ attributes }: OnnxNode, name: string, otherwise: string): string {
  const found = attributes.get(name);
  return found?.kind === "string" ? found.value : otherwise;
}
