import { countElements, type OnnxModel, type OnnxTensor, ELEMENTS } from "../../onnx/onnx-model.ts";
import { floatsOf } from "../../onnx/tensor-values.ts";
import { type Compressed, type CompressedLayer, type LeftLayer, reportOn } from "./compression-report.ts";
import { freeNames, hoistConstants, makeNode, replaceWeights, type StoredWeight } from "./edit-graph.ts";

/** Least elements for which the saving exceeds the size of the conversion node. */
const LEAST_ELEMENTS = 64;
const LARGEST_FLOAT16 = 65_504;

/**
 * The same network with its weights as float16, each rounded to the nearest, and cast to float32 where it is used. All
 * computation is in float32: ONNX Runtime's CPU provider has few float16 kernels and would cast around each operator.
 * The cast of a constant runs once, when a session opens.
 */
export function toFloat16(given: OnnxModel): Compressed {
  const model = hoistConstants(given);
  const free = freeNames(model);
  const stored = new Map<string, StoredWeight>();
  const done: CompressedLayer[] = [];
  const left: LeftLayer[] = [];
  for (const tensor of model.weights.values()) {
    const { name, dims, dtype } = tensor;
    if (dtype !== "float32") continue;
    const why = keepReason(tensor);
    if (why !== undefined) {
      left.push({ layer: name, operator: "weights", why });
      continue;
    }
    const bytes = new Uint8Array(Float16Array.from(floatsOf(tensor)).buffer);
    const half: OnnxTensor = { name: free(`${name}_float16`), dtype: "float16", dims, bytes };
    const widen = makeNode("Cast", [half.name], free(`${name}_widened`), {
      to: { kind: "int", value: ELEMENTS.float32.code },
    });
    stored.set(name, { tensors: [half], nodes: [widen] });
    done.push({ layer: name, operator: "weights", what: `${countElements(dims)} numbers as float16` });
  }
  return reportOn(given, replaceWeights(model, stored), done, left);
}

function keepReason(tensor: OnnxTensor): string | undefined {
  if (countElements(tensor.dims) < LEAST_ELEMENTS) return `it has fewer than ${LEAST_ELEMENTS} numbers`;
  const fits = floatsOf(tensor).every((value) => Math.abs(value) <= LARGEST_FLOAT16);
  return fits ? undefined : "it has numbers that float16 cannot hold";
}
