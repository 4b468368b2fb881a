import { floatOf, intOf } from "../../../onnx/onnx-model.ts";
import { floatsOf, floatTensor, integersOf } from "../../../onnx/tensor-values.ts";
import { type Attributes, type Body, float, int } from "./body.ts";
import { unsupported } from "./network-value.ts";

/** `DynamicQuantizeLinear`: levels from 0 to 255 over the range of all numbers and 0, and that range. */
export function expandDynamicQuantise(body: Body): void {
  const none = body.number(0);
  const [low, high] = (["Min", "Max"] as const).map((side) => {
    const found = body.add(`Reduce${side}`, [body.input(0)], { keepdims: int(0) });
    return body.add(side, [found, none]);
  }) as [string, string];
  const step = body.add("Div", [body.add("Sub", [high, low]), body.number(255)]);
  const isNone = body.add("Equal", [step, none]);
  const scale = body.add("Where", [isNone, body.number(1), step], {}, body.output(1));
  const bounded = (value: string, output: string) => body.add("Clip", [value, none, body.number(255)], {}, output);
  const shift = body.add("Round", [body.add("Div", [body.add("Sub", [none, low]), scale])]);
  const zero = bounded(shift, body.output(2));
  const levels = body.add("Round", [body.add("Div", [body.input(0), scale])]);
  bounded(body.add("Add", [levels, zero]), body.output());
}

/** Whole numbers without their zero point; weights of the file stay packed. */
function shifted(body: Body, [value, zero]: readonly [number, number], axis: number): string {
  const zeroName = body.input(zero);
  if (body.constant(value) !== undefined) {
    const operands = [body.input(value), body.number(1), ...(zeroName === "" ? [] : [zeroName])];
    return body.add("DequantizeLinear", operands, { axis: int(axis) });
  }
  return zeroName === "" ? body.input(value) : body.add("Sub", [body.input(value), zeroName]);
}

export function expandWholeProduct(body: Body): void {
  const rows = body.input(2) !== "" && body.shapeOf(2).length === 1 && body.shapeOf(2)[0] !== 1;
  if (rows) throw unsupported(body.node, "its rows have zero points of their own");
  const other = shifted(body, [1, 3], body.shapeOf(1).length - 1);
  body.add("MatMul", [shifted(body, [0, 2], 0), other], {}, body.output());
}

export function expandWholeConvolution(body: Body): void {
  const operands = [shifted(body, [0, 2], 0), shifted(body, [1, 3], 0)];
  body.add("Conv", operands, Object.fromEntries(body.node.attributes), body.output());
}

/** Real numbers of an operand, which its scale and its zero point follow. */
function real(body: Body, input: number, axis = 1): string {
  const operands = [0, 1, 2].map((each) => body.input(input + each)).filter((name) => name !== "");
  return body.add("DequantizeLinear", operands, { axis: int(axis) });
}

/** Levels of the output by the scale at `input` and the zero point behind it. */
function quantised(body: Body, value: string, input: number): void {
  const operands = [value, body.input(input), body.input(input + 1)].filter((name) => name !== "");
  body.add("QuantizeLinear", operands, {}, body.output());
}

/** Bias of whole numbers, which has the scales of both operands. */
function realBias(body: Body, bias: number, scales: readonly [number, number]): string[] {
  if (body.input(bias) === "") return [];
  const [tensor, ...steps] = [bias, ...scales].map((input) => body.constant(input));
  if (tensor === undefined || steps.some((step) => step === undefined)) {
    throw unsupported(body.node, "its bias or its scales are computed");
  }
  const [one, other] = steps.map((step) => floatsOf(step!)) as [Float32Array, Float32Array];
  const at = (floats: Float32Array, index: number) => floats[floats.length === 1 ? 0 : index]!;
  const values = integersOf(tensor).map((level, index) => level * at(one, index) * at(other, index));
  return [body.put(floatTensor("", tensor.dims, Float32Array.from(values)))];
}

export function expandQuantisedProduct(body: Body): void {
  const other = real(body, 3, body.shapeOf(3).length - 1);
  quantised(body, body.add("MatMul", [real(body, 0), other]), 6);
}

export function expandQuantisedConvolution(body: Body): void {
  const operands = [real(body, 0), real(body, 3, 0), ...realBias(body, 8, [1, 4])];
  quantised(body, body.add("Conv", operands, Object.fromEntries(body.node.attributes)), 6);
}

/** `QGemm` of com.microsoft; without a scale of its output it answers in real numbers. */
export function expandQuantisedGemm(body: Body): void {
  const { node } = body;
  const axis = intOf(node, "transB", 0) === 0 ? 1 : 0;
  const operands = [real(body, 0), real(body, 3, axis), ...realBias(body, 6, [1, 4])];
  const alpha = floatOf(node, "alpha", 1);
  const attributes: Attributes = { ...Object.fromEntries(node.attributes), beta: float(alpha) };
  if (body.input(7) === "") body.add("Gemm", operands, attributes, body.output());
  else quantised(body, body.add("Gemm", operands, attributes), 7);
}

/** `QLinearAdd` and `QLinearMul` of com.microsoft. */
export function expandQuantisedPair(body: Body): void {
  quantised(body, body.add(body.node.operator.slice("QLinear".length), [real(body, 0), real(body, 3)]), 6);
}

export function expandQuantisedUnary(body: Body): void {
  const { node } = body;
  if (intOf(node, "channels_last", 0) !== 0) throw unsupported(node, "its channels come last");
  const plain = node.operator.slice("QLinear".length);
  quantised(body, body.add(plain, [real(body, 0)], Object.fromEntries(node.attributes)), 3);
}

/** `QLinearConcat` of com.microsoft, whose output's scale and zero point come first. */
export function expandQuantisedParts(body: Body): void {
  const parts = body.node.inputs.flatMap((_, input) => (input % 3 === 2 ? [real(body, input)] : []));
  const grid = [body.input(0), body.input(1)];
  // Each part is brought to the output's grid first, since parts of one value share it.
  const levels = parts.map((part) =>
    body.add("DequantizeLinear", [body.add("QuantizeLinear", [part, ...grid]), ...grid]),
  );
  quantised(body, body.add("Concat", levels, { axis: int(intOf(body.node, "axis", 0)) }), 0);
}
