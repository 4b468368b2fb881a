import { countWork } from "./count-work.ts";
import { inferShapes } from "./infer-shapes.ts";
import { countElements, nameOperator, type OnnxModel, type OnnxTensor, sizeInBytes } from "./onnx-model.ts";
import type { Shape } from "./shape-rule.ts";

/** Size of a network, and its work with 1 for every free dimension of its inputs. */
export interface ModelFigures {
  /** Version of ONNX's own operators. */
  opset: number;
  nodes: number;
  /** Nodes of each operator, by `nameOperator`, in the order in which they first stand in the file. */
  operators: Record<string, number>;
  /** Numbers in weights and constants: floats, and those that were quantised; neither shapes nor scales. */
  parameters: number;
  /** Those of them that stand as whole numbers. */
  quantisedParameters: number;
  /** Bytes of everything that stands in the file as a tensor. */
  weightBytes: number;
  /** Products that are added up, and all operations; null where the file alone does not say it. */
  multiplyAddsPerRow: number | null;
  flopsPerRow: number | null;
  /** Bytes of everything that is computed on the way, as float32; null where the file alone does not say it. */
  activationBytesPerRow: number | null;
}

/** Inputs of operators that are weights in fewer bits, and those that only say how these are meant. */
const QUANTISED: Readonly<Record<string, { readonly weights: readonly number[]; readonly scales: readonly number[] }>> =
  {
    QuantizeLinear: { weights: [], scales: [1, 2] },
    DequantizeLinear: { weights: [0], scales: [1, 2] },
    ConvInteger: { weights: [1], scales: [2, 3] },
    MatMulInteger: { weights: [1], scales: [2, 3] },
    QLinearConv: { weights: [3, 8], scales: [1, 2, 4, 5, 6, 7] },
    QLinearMatMul: { weights: [3], scales: [1, 2, 4, 5, 6, 7] },
  };
const FLOATS: ReadonlySet<string> = new Set(["float16", "bfloat16", "float32", "float64"]);

/** Counts what a network is made of and what it computes, without running it. */
export function summariseModel(model: OnnxModel): ModelFigures {
  const shapes = inferShapes(model, 1);
  const work = countWork(model, shapes);
  const { quantised, floats } = sortWeights(model);
  const operators: Record<string, number> = {};
  for (const name of model.nodes.map(nameOperator)) operators[name] = (operators[name] ?? 0) + 1;
  return {
    opset: model.opset,
    nodes: model.nodes.length,
    operators,
    parameters: countNumbers(floats) + countNumbers(quantised),
    quantisedParameters: countNumbers(quantised),
    weightBytes: measureWeights(model),
    multiplyAddsPerRow: work?.multiplyAdds ?? null,
    flopsPerRow: work?.flops ?? null,
    activationBytesPerRow: measureActivations(model, shapes),
  };
}

/** Bytes of all tensors that stand in a file, constants of nodes included, and of sparse weights as they are filled. */
export function measureWeights({ weights, sparseWeights = new Map(), nodes }: OnnxModel): number {
  const constants = nodes.flatMap(({ attributes }) =>
    [...attributes.values()].flatMap((attribute) => (attribute.kind === "tensor" ? [attribute.value] : [])),
  );
  const all = [...weights.values(), ...sparseWeights.values(), ...constants];
  return all.reduce((bytes, { dtype, dims }) => bytes + sizeInBytes(dtype, countElements(dims)), 0);
}

function sortWeights({ weights, nodes }: OnnxModel): Record<"quantised" | "floats", OnnxTensor[]> {
  const [narrow, scales] = [new Set<string>(), new Set<string>()];
  for (const { operator, inputs } of nodes) {
    const places = Object.hasOwn(QUANTISED, operator) ? QUANTISED[operator] : undefined;
    for (const place of places?.weights ?? []) narrow.add(inputs[place] ?? "");
    for (const place of places?.scales ?? []) scales.add(inputs[place] ?? "");
  }
  const constants = nodes.flatMap(({ operator, outputs: [name = ""], attributes }) => {
    const value = operator === "Constant" ? attributes.get("value") : undefined;
    return value?.kind === "tensor" ? [{ ...value.value, name }] : [];
  });
  const tensors = [...weights.values(), ...constants];
  return {
    quantised: tensors.filter(({ name, dtype }) => narrow.has(name) && !FLOATS.has(dtype)),
    floats: tensors.filter(({ name, dtype }) => FLOATS.has(dtype) && !scales.has(name)),
  };
}

function countNumbers(tensors: readonly OnnxTensor[]): number {
  return tensors.reduce((sum, { dims }) => sum + countElements(dims), 0);
}

function measureActivations({ nodes }: OnnxModel, shapes: ReadonlyMap<string, Shape>): number | null {
  let elements = 0;
  for (const name of nodes.flatMap(({ outputs }) => outputs)) {
    const shape = shapes.get(name);
    if (name !== "" && shape === undefined) return null;
    elements += countElements(shape ?? [0]);
  }
  return sizeInBytes("float32", elements);
}
