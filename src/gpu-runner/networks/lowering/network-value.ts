import { ELEMENTS, type OnnxNode, type OnnxTensor } from "../../../onnx/onnx-model.ts";
import { floatsOf, integersOf } from "../../../onnx/tensor-values.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";

/** Words of a row's arena that live and die together. */
export interface Region {
  readonly words: number;
}

/** The grid on which numbers of a quantised network lie: (level - zero) · step for levels from low to high. */
export interface Grid {
  readonly step: number;
  readonly zero: number;
  readonly low: number;
  readonly high: number;
}

/** What a node computes for one row: elements in ONNX's order, anywhere in a region. */
export interface Activation {
  readonly kind: "activation";
  /** Where every free dimension is 1. */
  readonly shape: readonly number[];
  /** The axis that grows with the rows of a batch; no operator may mix what lies along it. */
  readonly rowAxis: number;
  readonly region: Region;
  readonly offset: number;
  /** What it was rounded to. */
  readonly grid?: Grid;
}

/** How weights are kept if not as float32; levels are whole numbers, each with a scale of its own here. */
export type Grain =
  | { readonly bits: 16 }
  | { readonly bits: 8 | 4; readonly levels: Int8Array; readonly scales: Float32Array };

/** What stands in the file, or follows from it. */
export interface Constant {
  readonly kind: "constant";
  readonly shape: readonly number[];
  readonly floats: Float32Array;
  readonly grain?: Grain;
}

export type NetworkValue = Activation | Constant;

const FLOATS = new Set<keyof typeof ELEMENTS>(["float32", "float64", "float16"]);

/** The numbers of a tensor of the file; null where they are none that activations are computed from. */
export function readConstant(tensor: OnnxTensor): Constant | null {
  const { dtype, dims: shape } = tensor;
  if (FLOATS.has(dtype)) {
    const grain = dtype === "float16" ? { grain: { bits: 16 } as const } : {};
    return { kind: "constant", shape, floats: floatsOf(tensor), ...grain };
  }
  if (["string", "bfloat16", "uint32", "uint64"].includes(dtype)) return null;
  return { kind: "constant", shape, floats: Float32Array.from(integersOf(tensor)) };
}

/** The problem of a network that this backend leaves to ONNX Runtime: `invalid-model`, with operator and reason. */
export function unsupported(node: Pick<OnnxNode, "name" | "operator">, reason: string): ProblemError {
  const named = node.name === "" ? node.operator : `${node.operator} (${node.name})`;
  return new ProblemError("invalid-model", `The wgsl backend does not run ${named}: ${reason}.`);
}
