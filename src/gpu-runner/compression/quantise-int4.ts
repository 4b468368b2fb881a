import { countElements, type OnnxModel, type OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatsOf, floatTensor } from "../../onnx/tensor-values.ts";
import { type Compressed, type CompressedLayer, layerName, type LeftLayer, reportOn } from "./compression-report.ts";
import { foldBatchNorm } from "./fold-batch-norm.ts";
import { freeNames, makeNode, replaceWeights, type StoredWeight } from "./edit-graph.ts";
import { type LinearLayer, linearLayers, shapeWeight } from "./linear-layers.ts";
import { packHalves, quantiseLinear, symmetricScale } from "./quantise-linear.ts";
import { raiseOpset } from "./raise-opset.ts";

/** First opset with int4 and with block-wise scales. */
const OPSET = 21;
const HIGH = 7;

/**
 * The same network with the weights of its layers as symmetric int4, with a scale for each group of `blockSize` inputs
 * of each output channel. A MatMul or Gemm may be computed in whole numbers; the rest is in float32. Filters are stored as
 * one row per channel, along which the groups run. Throws a `ProblemError` where the file's opset cannot be raised.
 */
export function quantiseInt4(given: OnnxModel, { blockSize }: { readonly blockSize: 32 | 128 }): Compressed {
  const model = raiseOpset(foldBatchNorm(given).model, OPSET);
  const free = freeNames(model);
  const found = linearLayers(model);
  const left: LeftLayer[] = [...found.left];
  const stored = new Map<string, StoredWeight>();
  const done: CompressedLayer[] = [];
  for (const layer of found.layers) {
    const name = { layer: layerName(layer.node), operator: layer.node.operator };
    const matrix = matrixOf(layer);
    if (matrix === undefined) {
      left.push({ ...name, why: "its inputs do not lie along one axis" });
      continue;
    }
    const { weights } = layer;
    if (!stored.has(weights.name)) stored.set(weights.name, storeWeight(layer, matrix, blockSize, free));
    done.push({ ...name, what: `weights as int4, a scale for each ${blockSize} inputs of a channel` });
  }
  return reportOn(given, replaceWeights(model, stored), done, left);
}

/** Weights as a matrix, and the axis of a channel's inputs. */
interface Matrix {
  readonly dims: readonly [number, number];
  readonly inputAxis: 0 | 1;
}

function matrixOf({ node, weights: { dims }, outputAxis }: LinearLayer): Matrix | undefined {
  const [first, ...rest] = dims;
  if (node.operator === "Conv") return { dims: [first!, countElements(rest)], inputAxis: 1 };
  if (node.operator === "ConvTranspose") return { dims: [first!, countElements(rest)], inputAxis: 0 };
  if (dims.length === 2) return { dims: [first!, rest[0]!], inputAxis: outputAxis === 0 ? 1 : 0 };
  // Gates of a recurrent layer, one direction after the other.
  if (dims.length === 3 && outputAxis === 1) return { dims: [first! * rest[0]!, rest[1]!], inputAxis: 1 };
  return undefined;
}

/** int4 weights with the nodes that convert them to float32 of the required shape. */
function storeWeight(
  layer: LinearLayer,
  matrix: Matrix,
  blockSize: number,
  free: (wished: string) => string,
): StoredWeight {
  const { weights } = layer;
  const { name, dims } = weights;
  const { halves, scales } = quantiseGroups(floatsOf(weights), matrix, blockSize);
  const whole: OnnxTensor = { name: free(`${name}_int4`), dtype: "int4", dims: matrix.dims, bytes: packHalves(halves) };
  const scaleDims = matrix.dims.with(matrix.inputAxis, Math.ceil(matrix.dims[matrix.inputAxis] / blockSize));
  const scale = floatTensor(free(`${name}_scales`), scaleDims, scales);
  const widen = makeNode("DequantizeLinear", [whole.name, scale.name], free(`${name}_dequantised`), {
    axis: { kind: "int", value: matrix.inputAxis },
    block_size: { kind: "int", value: blockSize },
  });
  const stored = { tensors: [whole, scale], nodes: [widen] };
  return dims.length > 2 ? shapeWeight(stored, weights, free) : stored;
}

/** Integers of a matrix from −7 to 7, and the scale of each group of inputs, both row by row. */
function quantiseGroups(values: Float32Array, { dims: [rows, columns], inputAxis }: Matrix, blockSize: number) {
  const groupsInRow = inputAxis === 1 ? Math.ceil(columns / blockSize) : columns;
  const groups = inputAxis === 1 ? rows * groupsInRow : Math.ceil(rows / blockSize) * groupsInRow;
  const groupOf = (place: number): number => {
    const [row, column] = [Math.floor(place / columns), place % columns];
    return inputAxis === 1
      ? row * groupsInRow + Math.floor(column / blockSize)
      : Math.floor(row / blockSize) * groupsInRow + column;
  };
  const largest = new Float32Array(groups);
  for (const [place, value] of values.entries()) {
    const group = groupOf(place);
    largest[group] = Math.max(largest[group]!, Math.abs(value));
  }
  const scales = Float32Array.from(largest, (each) => symmetricScale(each, HIGH));
  const halves = Int8Array.from(values, (value, place) =>
    quantiseLinear(value, { dtype: "int4", scale: scales[groupOf(place)]!, zeroPoint: 0 }),
  );
  return { halves, scales };
}
