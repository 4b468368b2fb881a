import type { OnnxModel, OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatsOf, floatTensor } from "../../onnx/tensor-values.ts";
import { type Compressed, type CompressedLayer, layerName, reportOn } from "./compression-report.ts";
import { foldBatchNorm } from "./fold-batch-norm.ts";
import { linearLayers } from "./linear-layers.ts";

/** Layer with some weights set to zero. */
export interface PrunedLayer extends CompressedLayer {
  readonly elements: number;
  /** Zeros in the written weights, earlier ones included. */
  readonly zeros: number;
}

/**
 * The same network with the smallest weights of each layer set to zero: ⌊sparsity · elements⌋ of `elements`, by
 * magnitude, the earlier first among equals. The file keeps its size, and ONNX Runtime multiplies zeros like other
 * numbers: the result compresses better, but is not faster.
 */
export function prune(given: OnnxModel, { sparsity }: { readonly sparsity: number }): Compressed<PrunedLayer> {
  const model = foldBatchNorm(given).model;
  const { layers, left } = linearLayers(model);
  const weights = new Map(model.weights);
  const done: PrunedLayer[] = [];
  for (const { node, weights: tensor } of layers) {
    const pruned = pruneSmallest(tensor, sparsity);
    weights.set(tensor.name, pruned);
    const values = floatsOf(pruned);
    const zeros = values.reduce((count, value) => count + (value === 0 ? 1 : 0), 0);
    const what = `${zeros} of ${values.length} weights are zero`;
    done.push({ layer: layerName(node), operator: node.operator, what, elements: values.length, zeros });
  }
  return reportOn(given, { ...model, weights }, done, left);
}

function pruneSmallest(tensor: OnnxTensor, sparsity: number): OnnxTensor {
  const values = floatsOf(tensor);
  const order = Uint32Array.from(values, (_, place) => place).toSorted(
    (one, other) => Math.abs(values[one]!) - Math.abs(values[other]!) || one - other,
  );
  for (const place of order.subarray(0, Math.floor(sparsity * values.length))) values[place] = 0;
  return floatTensor(tensor.name, tensor.dims, values);
}
