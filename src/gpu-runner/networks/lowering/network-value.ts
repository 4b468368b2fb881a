import type { OnnxDtype, OnnxNode, OnnxTensor } from "../../../onnx/onnx-model.ts";
import { floatsOf, integersOf } from "../../../onnx/tensor-values.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";

/** Words of a row's arena that share a lifetime. */
export interface Region {
  readonly words: number;
}

/** Grid of the numbers in a quantised network: (level - zero) · step for levels from low to high. */
export interface Grid {
  readonly step: number;
  readonly zero: number;
  readonly low: number;
  readonly high: number;
}

/** Output of a node for one row: elements in ONNX's order, at any place in a region. */
export interface Activation {
  readonly kind: "activation";
  /** Shape with every free dimension 1. */
  readonly shape: readonly number[];
  /**
   * Axis that grows with the rows of a batch, or -1 for a value that is the same whatever the rows are; no operator may
   * mix elements along it.
   */
  readonly rowAxis: number;
  readonly region: Region;
  readonly offset: number;
  /** Grid that it was rounded to. */
  readonly grid?: Grid;
}

/** Format of weights that are not float32; levels are integers, each with its own scale here. */
export type Grain =
  | { readonly bits: 16 }
  | { readonly bits: 8 | 4; readonly levels: Int8Array; readonly scales: Float32Array };

/** Value from the file, or computed from such values. */
export interface Constant {
  readonly kind: "constant";
  readonly shape: readonly number[];
  readonly floats: Float32Array;
  readonly grain?: Grain;
}

export type NetworkValue = Activation | Constant;

const FLOATS = new Set<OnnxDtype>(["float32", "float64", "float16"]);
const INTEGERS = new Set<OnnxDtype>([
  "int64",
  "int32",
  "int16",
  "int8",
  "int4",
  "uint64",
  "uint32",
  "uint16",
  "uint8",
  "uint4",
  "bool",
]);

/** Numbers of a tensor of the file; null for types that activations are not computed from. */
export function readConstant(tensor: OnnxTensor): Constant | null {
  const { dtype, dims: shape } = tensor;
  if (FLOATS.has(dtype)) {
    const grain = dtype === "float16" ? { grain: { bits: 16 } as const } : {};
    return { kind: "constant", shape, floats: floatsOf(tensor), ...grain };
  }
  if (!INTEGERS.has(dtype)) return null;
  return { kind: "constant", shape, floats: Float32Array.from(integersOf(tensor)) };
}

/** Error for a network that this backend leaves to ONNX Runtime: `invalid-model`, with operator and reason. */
export function unsupported(node: Pick<OnnxNode, "name" | "operator">, reason: string): ProblemError {
  const named = node.name === "" ? node.operator : `${node.operator} (${node.name})`;
  return new ProblemError("invalid-model", `The wgsl backend does not run ${named}: ${reason}.`);
}

/** A number of the plan's own, without axes. */
export function scalar(value: number): Constant {
  return { kind: "constant", shape: [], floats: Float32Array.of(value) };
}
