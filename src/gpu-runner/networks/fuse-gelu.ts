import type { OnnxModel, OnnxNode } from "../../onnx/onnx-model.ts";
import { constantTensor } from "../../onnx/tensor-values.ts";
import { readConstant } from "./lowering/network-value.ts";

/** Relative difference within which a constant counts as the one of the definition. */
const ROUNDING = 1e-3;

/**
 * Replaces x · ½ · (1 + erf(x / √2)), which files before opset 20 write as five operators, by one `Gelu`, which then ends
 * the operator before it. The two products may come in any order.
 */
export function fuseGelu(model: OnnxModel): OnnxModel {
  if (!model.nodes.some(({ operator, domain }) => operator === "Erf" && domain === "")) return model;
  const writers = new Map(model.nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)));
  const readers = Map.groupBy(
    model.nodes.flatMap((node) => node.inputs.map((name) => ({ name, node }))),
    ({ name }) => name,
  );
  const kept = new Set(model.outputs.map(({ name }) => name));
  const numberOf = (name: string): number | null => {
    const writer = writers.get(name);
    const tensor = model.weights.get(name) ?? (writer && constantTensor(writer));
    // One of more axes may give its product more axes than x has.
    const floats = tensor && tensor.dims.length <= 1 ? readConstant(tensor)?.floats : undefined;
    return floats?.length === 1 ? floats[0]! : null;
  };
  const isAbout = (name: string, value: number) => Math.abs((numberOf(name) ?? 0) - value) < ROUNDING * value;
  /** The other operand of a product with, or a sum of, a number. */
  const besides = ({ inputs: [one = "", other = ""] }: OnnxNode, value: number): string | null => {
    if (isAbout(other, value)) return one;
    return isAbout(one, value) ? other : null;
  };
  const soleReader = (name: string, operator: string): OnnxNode | null => {
    const [reader, ...more] = readers.get(name) ?? [];
    const isOwn = reader?.node.operator === operator && reader.node.domain === "";
    return isOwn && more.length === 0 && !kept.has(name) ? reader.node : null;
  };
  const gone = new Set<OnnxNode>();
  const fused = new Map<OnnxNode, OnnxNode>();
  for (const erf of model.nodes) {
    const scaled = erf.operator === "Erf" && erf.domain === "" ? writers.get(erf.inputs[0]!) : undefined;
    if (scaled === undefined || soleReader(erf.inputs[0]!, "Erf") === null) continue;
    const x = argumentOf(scaled, besides);
    const sum = soleReader(erf.outputs[0]!, "Add");
    if (x === null || sum === null || besides(sum, 1) !== erf.outputs[0]) continue;
    const product = soleReader(sum.outputs[0]!, "Mul");
    if (product === null) continue;
    const factor = product.inputs.find((name) => name !== sum.outputs[0]) ?? "";
    const halved = writers.get(factor);
    // Half of x times the sum, or x times the sum and then half of that.
    const isHalf =
      halved?.operator === "Mul" &&
      halved.domain === "" &&
      besides(halved, 0.5) === x &&
      soleReader(factor, "Mul") !== null;
    const half = factor === x ? soleReader(product.outputs[0]!, "Mul") : null;
    const last = isHalf ? product : half !== null && besides(half, 0.5) === product.outputs[0] ? half : null;
    if (last === null) continue;
    for (const node of [scaled, erf, sum, product, ...(isHalf ? [halved] : [])]) gone.add(node);
    gone.delete(last);
    fused.set(last, { ...last, operator: "Gelu", inputs: [x], attributes: new Map() });
  }
  if (fused.size === 0) return model;
  const nodes = model.nodes.filter((node) => !gone.has(node)).map((node) => fused.get(node) ?? node);
  return { ...model, nodes };
}

/** The x of x / √2; null of other nodes. */
function argumentOf(node: OnnxNode, besides: (node: OnnxNode, value: number) => string | null): string | null {
  if (node.domain !== "") return null;
  if (node.operator === "Mul") return besides(node, Math.SQRT1_2);
  const [dividend = null] = node.inputs;
  return node.operator === "Div" && besides(node, Math.SQRT2) === dividend ? dividend : null;
}
