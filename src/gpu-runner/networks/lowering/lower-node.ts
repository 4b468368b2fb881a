import type { OnnxNode } from "../../../onnx/onnx-model.ts";
import type { WgslOperator } from "../../../onnx/operators.ts";
import { lowerConvolution, lowerTransposed } from "./lower-convolution.ts";
import { lowerAdd, lowerGemm, lowerMatMul } from "./lower-dense.ts";
import { ACTIVATIONS, emitBinary, lowerActivation, lowerBatchNorm } from "./lower-elementwise.ts";
import type { Lowering } from "./lowering.ts";
import { lowerConcat, lowerGather, lowerResize, lowerSlice, lowerTranspose, lowerView } from "./lower-movement.ts";
import { lowerPool, lowerReduction, lowerSoftmax } from "./lower-pool.ts";
import { lowerDequantise, lowerQuantise } from "./lower-quantised.ts";
import { lowerRecurrent } from "./lower-recurrent.ts";
import { readConstant, unsupported } from "./network-value.ts";

type Lower = (lowering: Lowering, node: OnnxNode) => void;

/** Lowering of every supported ONNX operator. */
const LOWERS: Readonly<Record<WgslOperator, Lower>> = {
  Constant: lowerConstant,
  Conv: lowerConvolution,
  ConvTranspose: lowerTransposed,
  Gemm: lowerGemm,
  MatMul: lowerMatMul,
  Add: lowerAdd,
  BatchNormalization: lowerBatchNorm,
  Transpose: lowerTranspose,
  Slice: lowerSlice,
  Gather: lowerGather,
  Concat: lowerConcat,
  Resize: lowerResize,
  QuantizeLinear: lowerQuantise,
  DequantizeLinear: lowerDequantise,
  ...forEach(["Sub", "Mul", "Div", "Pow", "Min", "Max"], emitBinary),
  ...forEach(Object.keys(ACTIVATIONS) as (keyof typeof ACTIVATIONS)[], lowerActivation),
  ...forEach(["Identity", "Dropout", "Flatten", "Reshape", "Squeeze", "Unsqueeze"], lowerView),
  ...forEach(["MaxPool", "AveragePool"], lowerPool),
  ...forEach(
    ["GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2"],
    lowerReduction,
  ),
  ...forEach(["Softmax", "LogSoftmax"], lowerSoftmax),
  ...forEach(["GRU", "LSTM"], lowerRecurrent),
};

function forEach<Name extends WgslOperator>(operators: readonly Name[], lower: Lower): Record<Name, Lower> {
  return Object.fromEntries(operators.map((operator) => [operator, lower])) as Record<Name, Lower>;
}

/**
 * Adds the operators of a node, or defines its outputs as views or constants. Fails with `invalid-model` where it
 * cannot.
 */
export function lowerNode(lowering: Lowering, node: OnnxNode): void {
  const isKnown = node.domain === "" && Object.hasOwn(LOWERS, node.operator);
  const lower = isKnown ? LOWERS[node.operator as WgslOperator] : undefined;
  if (lower === undefined) throw unsupported(node, "the operator is not known");
  lower(lowering, node);
}

function lowerConstant(lowering: Lowering, node: OnnxNode): void {
  const value = node.attributes.get("value");
  const constant = value?.kind === "tensor" ? readConstant(value.value) : null;
  if (constant === null) throw unsupported(node, "it holds no numbers");
  lowering.define(node.outputs[0]!, constant);
}
