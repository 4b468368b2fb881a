import type { OnnxModel, OnnxNode } from "../../../onnx/onnx-model.ts";
import { readModel } from "../../../onnx/read-model.ts";
import type { CompressionResult } from "../../../protocol/jobs/compression.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { optimiseOnCpu } from "../../devices/ort/optimised-graph.ts";
import { computeInWholeNumbers, findWholeProducts, roundsByItself } from "../../devices/ort/whole-products.ts";
import { planNetwork } from "../../networks/plan-network.ts";

type Computation = NonNullable<CompressionResult["computation"]>[number];

/** ONNX Runtime's operators with weights, by the numbers that they multiply. */
const WHOLE = new Set(
  (
    "ConvInteger DynamicQuantizeMatMul DynamicQuantizeLSTM MatMulInteger MatMulIntegerToFloat MatMulNBits QGemm" +
    " QLinearConv QLinearMatMul"
  ).split(" "),
);
const FLOATING = new Set(
  "Conv ConvTranspose FusedConv FusedGemm FusedMatMul GRU Gemm LSTM MatMul NhwcFusedConv RNN".split(" "),
);
const MOST_TEXT = 256;

/**
 * How each backend multiplies by the weights of a file, and why not in fewer bits. What the CPU provider does is read
 * from the graph that it runs.
 */
export async function describeComputation(file: Uint8Array): Promise<Computation[]> {
  const model = readModel(file);
  return [
    count("ort-cpu", await optimiseOnCpu(file), explainCpu(model)),
    count("ort-webgpu", computeInWholeNumbers(model, "webgpu"), explainWebgpu(model)),
    describeOwn(model),
  ];
}

/** Layers by operator: those in whole numbers, then the rest. */
function count(backend: Computation["backend"], { nodes, weights }: OnnxModel, why: string | null): Computation {
  const widened = new Set(weights.keys());
  for (const { operator, inputs, outputs } of nodes) {
    const passes = operator === "DequantizeLinear" || operator === "Cast" || operator === "Reshape";
    if (passes && widened.has(inputs[0]!)) for (const name of outputs) widened.add(name);
  }
  const readsWeights = ({ inputs }: OnnxNode) => inputs.slice(1).some((name) => widened.has(name));
  const layers = nodes.filter(
    (node) => (WHOLE.has(node.operator) || FLOATING.has(node.operator)) && readsWeights(node),
  );
  // On WebGPU, layers between integers are floats: it has no integer kernel but MatMulNBits.
  const whole = layers.filter(({ operator }) =>
    backend === "ort-cpu" ? WHOLE.has(operator) : operator === "MatMulNBits",
  );
  const rest = layers.filter((layer) => !whole.includes(layer));
  const parts = [
    ...(whole.length > 0 ? [`${list(whole)} in whole numbers`] : []),
    ...(rest.length > 0 ? [`${list(rest)} in float32${why === null ? "" : `: ${why}`}`] : []),
  ];
  return { backend, layers: layers.length, wholeLayers: whole.length, how: parts.join("; ").slice(0, MOST_TEXT) };
}

function list(nodes: readonly OnnxNode[]): string {
  const counts = new Map<string, number>();
  for (const { operator } of nodes) counts.set(operator, (counts.get(operator) ?? 0) + 1);
  return [...counts].map(([operator, times]) => `${times} ${operator}`).join(", ");
}

const holds = ({ weights }: OnnxModel, dtype: string) => [...weights.values()].some((each) => each.dtype === dtype);

const SMALL = "small products, or no integer operator for them";
const WIDENED = "weights are widened once, at loading";

function explainCpu(model: OnnxModel): string | null {
  if (holds(model, "float16")) return `${WIDENED}; the provider would cast around each float16 operator`;
  if (roundsByItself(model) || findWholeProducts(model).length > 0) return SMALL;
  return holds(model, "int8") || holds(model, "int4") ? WIDENED : null;
}

function explainWebgpu(model: OnnxModel): string | null {
  if (model.nodes.some(({ operator }) => operator === "QuantizeLinear"))
    return "the provider has no integer operator but MatMulNBits, and quantises on the CPU between layers";
  if (roundsByItself(model) || findWholeProducts(model).length > 0) return SMALL;
  return ["float16", "int8", "int4"].some((dtype) => holds(model, dtype)) ? WIDENED : null;
}

function describeOwn(model: OnnxModel): Computation {
  const stored = ["float16", "int8", "int4"].filter((dtype) => holds(model, dtype));
  try {
    const bits = planNetwork(model).operators.flatMap(({ narrow }) => narrow?.bits ?? []);
    const wholeLayers = bits.filter((each) => each === 8).length;
    const halfLayers = bits.length - wholeLayers;
    const others = [
      ...(wholeLayers > 0 ? [`${wholeLayers} in whole numbers`] : []),
      ...(halfLayers > 0 ? [`${halfLayers} in float16`] : []),
    ];
    const { layers } = count("wgsl", model, null);
    const parts = [
      `float32${others.length > 0 ? `, or ${others.join(" and ")} on devices that are faster so` : ""}`,
      ...(stored.length > 0 ? [`${stored.join(", ")} weights stay packed and are unpacked where used`] : []),
    ];
    return { backend: "wgsl", layers, wholeLayers, how: parts.join("; ") };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return { backend: "wgsl", layers: 0, wholeLayers: 0, how: error.problem.detail.slice(0, MOST_TEXT) };
  }
}
