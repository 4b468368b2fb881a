import { floatOf, intOf } from "../../../onnx/onnx-model.ts";
import { type Attributes, type Body, float, int, ints, text } from "./body.ts";
import { unsupported } from "./network-value.ts";

/** `SkipLayerNormalization` and `SkipSimplifiedLayerNormalization` of com.microsoft: a sum, then its normalisation. */
export function expandSkipNorm(body: Body): void {
  const { node } = body;
  if (body.output(1) !== "" || body.output(2) !== "") throw unsupported(node, "it returns statistics");
  const isSimple = node.operator.includes("Simplified");
  const bias = body.input(isSimple ? 3 : 4);
  const sum = body.add(
    "Add",
    [body.input(0), body.input(1)],
    {},
    bias === "" ? body.output(3) || undefined : undefined,
  );
  const total = bias === "" ? sum : body.add("Add", [sum, bias], {}, body.output(3) || undefined);
  const attributes = { axis: int(-1), epsilon: float(floatOf(node, "epsilon", 1e-12)) };
  const operands = isSimple ? [body.input(2)] : [body.input(2), body.input(3)];
  body.add(isSimple ? "RMSNormalization" : "LayerNormalization", [total, ...operands], attributes, body.output());
}

/** `SimplifiedLayerNormalization`, as ONNX Runtime names `RMSNormalization`. */
export function expandSimpleNorm(body: Body): void {
  if (body.output(1) !== "") throw unsupported(body.node, "it returns statistics");
  const attributes = Object.fromEntries(body.node.attributes);
  body.add("RMSNormalization", body.node.inputs, attributes, body.output());
}

export function expandGelu(body: Body): void {
  const { operator } = body.node;
  const value = body.input(1) === "" ? body.input(0) : body.add("Add", [body.input(0), body.input(1)]);
  const attributes: Attributes = operator === "FastGelu" ? { approximate: text("tanh") } : {};
  body.add("Gelu", [value], attributes, body.output());
}

/** `QuickGelu` of com.microsoft: x · sigmoid(alpha · x). */
export function expandQuickGelu(body: Body): void {
  body.add("Swish", [body.input(0)], { alpha: float(floatOf(body.node, "alpha", 1.702)) }, body.output());
}

export function expandProduct(body: Body): void {
  const { node } = body;
  if (intOf(node, "transBatchA", 0) !== 0 || intOf(node, "transBatchB", 0) !== 0) {
    throw unsupported(node, "it turns its batches");
  }
  const [one, other] = ["transA", "transB"].map((name, input) => {
    if (intOf(node, name, 0) === 0) return body.input(input);
    const axes = [...body.shapeOf(input).keys()];
    return body.add("Transpose", [body.input(input)], {
      perm: ints([...axes.slice(0, -2), axes.at(-1)!, axes.at(-2)!]),
    });
  }) as [string, string];
  const alpha = floatOf(node, "alpha", 1);
  if (alpha === 1) body.add("MatMul", [one, other], {}, body.output());
  else body.add("Mul", [body.add("MatMul", [one, other]), body.number(alpha)], {}, body.output());
}
