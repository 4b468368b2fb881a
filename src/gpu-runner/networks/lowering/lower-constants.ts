import { countElements, type OnnxNode } from "../../../onnx/onnx-model.ts";
import { constantTensor } from "../../../onnx/tensor-values.ts";
import { lowerView } from "./lower-movement.ts";
import type { Lowering } from "./lowering.ts";
import { readConstant, unsupported } from "./network-value.ts";

/** `Constant`, in whichever way it holds its numbers. */
export function lowerConstant(lowering: Lowering, node: OnnxNode): void {
  const tensor = constantTensor(node);
  const constant = tensor && readConstant(tensor);
  if (constant === null) throw unsupported(node, "it holds no numbers");
  lowering.define(node.outputs[0]!, constant);
}

/** `ConstantOfShape`: copied into the arena where its shape grows with the rows. */
export function lowerConstantOfShape(lowering: Lowering, node: OnnxNode): void {
  const value = node.attributes.get("value");
  const constant = value?.kind === "tensor" ? readConstant(value.value) : null;
  const { shape, rowAxis } = lowering.shapeOf(node);
  const floats = new Float32Array(countElements(shape)).fill(constant?.floats[0] ?? 0);
  const filled = { kind: "constant", shape, floats } as const;
  lowering.define(node.outputs[0]!, rowAxis < 0 ? filled : { ...lowering.inArena(filled), rowAxis });
}

/** `Range` of constants. */
export function lowerRange(lowering: Lowering, node: OnnxNode): void {
  const [start, , step] = [0, 1, 2].map((input) => lowering.constantOf(node, input).floats[0]!);
  const { shape } = lowering.shapeOf(node);
  const floats = Float32Array.from({ length: shape[0]! }, (_, index) => start! + index * step!);
  lowering.define(node.outputs[0]!, { kind: "constant", shape, floats });
}

/** `Dropout` at inference: its data, and a mask that keeps everything. */
export function lowerDropout(lowering: Lowering, node: OnnxNode): void {
  const isTraining = lowering.optionalConstant(node, 2)?.floats[0] ?? 0;
  if (isTraining !== 0) throw unsupported(node, "it trains");
  lowerView(lowering, node);
  const mask = node.outputs[1];
  if (!mask) return;
  const { shape, rowAxis } = lowering.shapeOf(node);
  const ones = { kind: "constant", shape, floats: new Float32Array(countElements(shape)).fill(1) } as const;
  lowering.define(mask, rowAxis < 0 ? ones : { ...lowering.inArena(ones), rowAxis });
}

/** `Shape` and `Size`, whose numbers are folded where the shape is known. */
export function lowerShape(_: Lowering, node: OnnxNode): void {
  throw unsupported(node, "its shape depends on computed values");
}
