import { inferFacts } from "../../../onnx/infer-shapes.ts";
import { inferTypes } from "../../../onnx/infer-types.ts";
import { nameOperator, type OnnxModel, type OnnxNode } from "../../../onnx/onnx-model.ts";
import type { WGSL_EXPANSIONS } from "../../../onnx/operators.ts";
import { constantTensor } from "../../../onnx/tensor-values.ts";
import { Body } from "./body.ts";
import { expandAttention, expandMultiHead, expandProjected, expandRotary } from "./expand-attention.ts";
import { expandGelu, expandProduct, expandQuickGelu, expandSimpleNorm, expandSkipNorm } from "./expand-fused.ts";
import {
  expandDynamicQuantise,
  expandQuantisedConvolution,
  expandQuantisedGemm,
  expandQuantisedPair,
  expandQuantisedParts,
  expandQuantisedProduct,
  expandQuantisedUnary,
  expandWholeConvolution,
  expandWholeProduct,
} from "./expand-quantised.ts";

/** Operators that stand for several others. Sources: onnx.ai/onnx/operators; ONNX Runtime, docs/ContribOperators.md. */
const EXPANSIONS: Readonly<Record<(typeof WGSL_EXPANSIONS)[number], (body: Body) => void>> = {
  Attention: expandAttention,
  ConvInteger: expandWholeConvolution,
  DynamicQuantizeLinear: expandDynamicQuantise,
  MatMulInteger: expandWholeProduct,
  QLinearConv: expandQuantisedConvolution,
  QLinearMatMul: expandQuantisedProduct,
  RotaryEmbedding: expandRotary,
  SimplifiedLayerNormalization: expandSimpleNorm,
  "com.microsoft.Attention": expandProjected,
  "com.microsoft.BiasGelu": expandGelu,
  "com.microsoft.FastGelu": expandGelu,
  "com.microsoft.FusedMatMul": expandProduct,
  "com.microsoft.Gelu": expandGelu,
  "com.microsoft.MultiHeadAttention": expandMultiHead,
  "com.microsoft.QGemm": expandQuantisedGemm,
  "com.microsoft.QLinearAdd": expandQuantisedPair,
  "com.microsoft.QLinearConcat": expandQuantisedParts,
  "com.microsoft.QLinearGlobalAveragePool": expandQuantisedUnary,
  "com.microsoft.QLinearLeakyRelu": expandQuantisedUnary,
  "com.microsoft.QLinearMul": expandQuantisedPair,
  "com.microsoft.QLinearSigmoid": expandQuantisedUnary,
  "com.microsoft.QuickGelu": expandQuickGelu,
  "com.microsoft.RotaryEmbedding": expandRotary,
  "com.microsoft.SkipLayerNormalization": expandSkipNorm,
  "com.microsoft.SkipSimplifiedLayerNormalization": expandSkipNorm,
};

/** Whether a node stands for several. */
export function isExpanded(node: OnnxNode): boolean {
  return Object.hasOwn(EXPANSIONS, nameOperator(node));
}

/** The network with plain operators in the place of those that stand for several. Fails with `invalid-model`. */
export function expandModel(model: OnnxModel): OnnxModel {
  if (!model.nodes.some(isExpanded)) return model;
  const { shapes } = inferFacts(model, 1);
  const constants = new Map(model.weights);
  for (const node of model.nodes) {
    const tensor = node.domain === "" ? constantTensor(node) : null;
    if (tensor !== null) constants.set(node.outputs[0]!, tensor);
  }
  const facts = { shapes, types: inferTypes(model), constants };
  const weights = new Map(model.weights);
  const nodes = model.nodes.flatMap((node, index) => {
    if (!isExpanded(node)) return [node];
    const body = new Body(node, index, facts);
    EXPANSIONS[nameOperator(node) as keyof typeof EXPANSIONS](body);
    for (const tensor of body.weights) weights.set(tensor.name, tensor);
    return body.nodes;
  });
  return { ...model, nodes, weights };
}
