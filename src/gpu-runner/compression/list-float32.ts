import { intOf } from "../../onnx/read-option.ts";
import { ELEMENTS, type OnnxModel, type OnnxNode } from "../../onnx/onnx-model.ts";

/** What these give is of whole numbers or truths, whatever they take. */
const NEVER = new Set(
  "Shape Size ArgMax ArgMin NonZero Equal Less LessOrEqual Greater GreaterOrEqual And Or Not IsNaN IsInf QuantizeLinear".split(
    " ",
  ),
);
/** Their further outputs are places, counts or truths. */
const FIRST_ONLY = new Set(["MaxPool", "TopK", "Dropout", "Unique"]);

/** Names of the float32 values that a network reads and computes; of its own operators only, and not of their lists. */
export function listFloat32({ inputs, weights, nodes }: OnnxModel): Set<string> {
  const floats = new Set<string>();
  for (const { name, dtype } of [...inputs, ...weights.values()]) if (dtype === "float32") floats.add(name);
  for (const node of nodes) {
    if (!givesFloat32(node, floats)) continue;
    for (const name of FIRST_ONLY.has(node.operator) ? node.outputs.slice(0, 1) : node.outputs) floats.add(name);
  }
  return floats;
}

function givesFloat32(node: OnnxNode, floats: ReadonlySet<string>): boolean {
  if (node.domain !== "" || NEVER.has(node.operator)) return false;
  if (node.operator === "Cast") return intOf(node, "to", 0) === ELEMENTS.float32.code;
  // The type of these is that of their scales, and of what is chosen from.
  if (node.operator === "DequantizeLinear" || node.operator === "Where") return floats.has(node.inputs[1]!);
  return floats.has(node.inputs[0] ?? "");
}
