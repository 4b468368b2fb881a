import type { OnnxModel, OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatTensor } from "../../onnx/tensor-values.ts";
import { type Compressed, type CompressedLayer, layerName, reportOn } from "./compression-report.ts";
import { foldBatchNorm } from "./fold-batch-norm.ts";
import { freeNames, makeNode, replaceWeights, type StoredWeight } from "./edit-graph.ts";
import { type LinearLayer, linearLayers, needsShape, shapeWeight } from "./linear-layers.ts";
import { channelScales, quantisePerChannel } from "./quantise-linear.ts";
import { raiseOpset } from "./raise-opset.ts";

/** First opset whose DequantizeLinear may have a scale for each index of an axis. */
const OPSET = 13;

/**
 * The same network with the weights of its layers as symmetric int8 by output channel, each followed by a
 * DequantizeLinear. With `activations` `"float"` all computation is in float32; with `"dynamic"` a MatMul or Gemm may be
 * computed in whole numbers. Throws a `ProblemError` where the file's opset cannot be raised.
 */
export function quantiseWeights(given: OnnxModel, activations: "float" | "dynamic" = "float"): Compressed {
  const model = raiseOpset(foldBatchNorm(given).model, OPSET);
  const free = freeNames(model);
  const { layers, left } = linearLayers(model);
  const stored = new Map<string, StoredWeight>();
  const done: CompressedLayer[] = [];
  for (const layer of layers) {
    const { node, weights, outputAxis } = layer;
    if (!stored.has(weights.name)) stored.set(weights.name, storeWeight(layer, activations, free));
    const what = `weights as int8, a scale for each of ${weights.dims[outputAxis]} channels`;
    done.push({ layer: layerName(node), operator: node.operator, what });
  }
  return reportOn(given, replaceWeights(model, stored), done, left);
}

/** int8 weights with the DequantizeLinear that converts them to float32. */
function storeWeight(
  layer: LinearLayer,
  activations: "float" | "dynamic",
  free: (wished: string) => string,
): StoredWeight {
  const { weights, outputAxis: axis } = layer;
  const { name, dims } = weights;
  const scales = channelScales(weights, axis);
  const bytes = new Uint8Array(quantisePerChannel(weights, axis, scales).buffer);
  const whole: OnnxTensor = { name: free(`${name}_int8`), dtype: "int8", dims, bytes };
  const scale = floatTensor(free(`${name}_scale`), [scales.length], scales);
  const widen = makeNode("DequantizeLinear", [whole.name, scale.name], free(`${name}_dequantised`), {
    axis: { kind: "int", value: axis },
  });
  const stored = { tensors: [whole, scale], nodes: [widen] };
  return activations === "float" && needsShape(layer) ? shapeWeight(stored, weights, free) : stored;
}
