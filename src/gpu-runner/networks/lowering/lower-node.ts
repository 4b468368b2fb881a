import type { OnnxNode } from "../../../onnx/onnx-model.ts";
import type { WgslOperator } from "../../../onnx/operators.ts";
import { isExpanded } from "./expand-model.ts";
import { lowerConvolution, lowerTransposed } from "./lower-convolution.ts";
import { lowerConstant, lowerConstantOfShape, lowerDropout, lowerRange, lowerShape } from "./lower-constants.ts";
import { lowerBlocks, lowerExpand, lowerPad, lowerSplit, lowerTile, lowerWhere } from "./lower-copies.ts";
import { lowerAdd, lowerGemm, lowerMatMul } from "./lower-dense.ts";
import { ACTIVATIONS, emitBinary, lowerActivation, lowerBatchNorm, lowerCast, lowerClip } from "./lower-elementwise.ts";
import type { Lowering } from "./lowering.ts";
import {
  lowerConcat,
  lowerGather,
  lowerGatherElements,
  lowerSlice,
  lowerTranspose,
  lowerView,
} from "./lower-movement.ts";
import { lowerChannelNorm, lowerLayerNorm, lowerPlainNorm } from "./lower-normal.ts";
import { lowerCumulation, lowerLocalNorm, lowerLpPool, lowerPool, lowerReduction, lowerSoftmax } from "./lower-pool.ts";
import { lowerEinsum } from "./lower-product.ts";
import { lowerDequantise, lowerQuantise } from "./lower-quantised.ts";
import { lowerRecurrent } from "./lower-recurrent.ts";
import { lowerResize } from "./lower-resize.ts";
import {
  lowerEyeLike,
  lowerGatherND,
  lowerHardmax,
  lowerOneHot,
  lowerScatterElements,
  lowerScatterND,
  lowerTensorScatter,
  lowerTopK,
  lowerTrilu,
} from "./lower-selection.ts";
import { unsupported } from "./network-value.ts";

type Lower = (lowering: Lowering, node: OnnxNode) => void;

/** Lowering of every supported ONNX operator. */
const LOWERS: Readonly<Record<WgslOperator, Lower>> = {
  ...forEach(Object.keys(ACTIVATIONS) as (keyof typeof ACTIVATIONS)[], lowerActivation),
  Add: lowerAdd,
  BatchNormalization: lowerBatchNorm,
  Cast: lowerCast,
  CastLike: lowerCast,
  Clip: lowerClip,
  Concat: lowerConcat,
  Constant: lowerConstant,
  ConstantOfShape: lowerConstantOfShape,
  Conv: lowerConvolution,
  ConvTranspose: lowerTransposed,
  CumSum: lowerCumulation,
  DequantizeLinear: lowerDequantise,
  Dropout: lowerDropout,
  Einsum: lowerEinsum,
  EyeLike: lowerEyeLike,
  Expand: lowerExpand,
  Gather: lowerGather,
  GatherElements: lowerGatherElements,
  GatherND: lowerGatherND,
  Gemm: lowerGemm,
  Hardmax: lowerHardmax,
  LRN: lowerLocalNorm,
  LpPool: lowerLpPool,
  MatMul: lowerMatMul,
  OneHot: lowerOneHot,
  Pad: lowerPad,
  QuantizeLinear: lowerQuantise,
  Range: lowerRange,
  ScatterND: lowerScatterND,
  Slice: lowerSlice,
  Split: lowerSplit,
  TensorScatter: lowerTensorScatter,
  Tile: lowerTile,
  TopK: lowerTopK,
  Transpose: lowerTranspose,
  Trilu: lowerTrilu,
  Where: lowerWhere,
  ...forEach(
    [
      "And",
      "Div",
      "Equal",
      "Greater",
      "GreaterOrEqual",
      "Less",
      "LessOrEqual",
      "Max",
      "Mean",
      "Min",
      "Mod",
      "Mul",
      "Or",
      "PRelu",
      "Pow",
      "Sub",
      "Sum",
      "Xor",
    ],
    emitBinary,
  ),
  ...forEach(["Identity", "Flatten", "Reshape", "Squeeze", "Unsqueeze"], lowerView),
  ...forEach(["Shape", "Size"], lowerShape),
  ...forEach(["Resize", "Upsample"], lowerResize),
  ...forEach(["Scatter", "ScatterElements"], lowerScatterElements),
  ...forEach(["DepthToSpace", "SpaceToDepth"], lowerBlocks),
  ...forEach(["MaxPool", "AveragePool"], lowerPool),
  ...forEach(
    [
      "ArgMax",
      "ArgMin",
      "GlobalAveragePool",
      "GlobalLpPool",
      "GlobalMaxPool",
      "ReduceL1",
      "ReduceL2",
      "ReduceLogSum",
      "ReduceLogSumExp",
      "ReduceMax",
      "ReduceMean",
      "ReduceMin",
      "ReduceProd",
      "ReduceSum",
      "ReduceSumSquare",
    ],
    lowerReduction,
  ),
  ...forEach(["LayerNormalization", "RMSNormalization"], lowerLayerNorm),
  ...forEach(["InstanceNormalization", "GroupNormalization"], lowerChannelNorm),
  ...forEach(["LpNormalization", "MeanVarianceNormalization"], lowerPlainNorm),
  ...forEach(["Softmax", "LogSoftmax"], lowerSoftmax),
  ...forEach(["GRU", "LSTM"], lowerRecurrent),
};

function forEach<Name extends WgslOperator>(operators: readonly Name[], lower: Lower): Record<Name, Lower> {
  return Object.fromEntries(operators.map((operator) => [operator, lower])) as Record<Name, Lower>;
}

/** Fails with `invalid-model` for an operator that no network has lowered. */
export function checkKnown(node: OnnxNode): void {
  if (!isKnown(node) && !isExpanded(node)) throw unsupported(node, "the operator is not known");
}

function isKnown({ domain, operator }: OnnxNode): boolean {
  return domain === "" && Object.hasOwn(LOWERS, operator);
}

/**
 * Adds the operators of a node, or defines its outputs as views or constants. Fails with `invalid-model` where it
 * cannot.
 */
export function lowerNode(lowering: Lowering, node: OnnxNode): void {
  if (!isKnown(node)) throw unsupported(node, "the operator is not known");
  const lower = LOWERS[node.operator as WgslOperator];
  // Weights keep the format in which they stand in the file.
  const known = node.operator === "Constant" ? null : lowering.numbersOf(node.outputs[0]!);
  if (known === null) lower(lowering, node);
  else if (known !== "varying") lowering.define(node.outputs[0]!, known);
}
