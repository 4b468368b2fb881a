import { COMPOUND_SHAPE_RULES } from "./compound-shape-rules.ts";
import { foldNumbers, type KnownNumbers, MOST_KNOWN } from "./fold-numbers.ts";
import { GROWING_SHAPE_RULES } from "./growing-shape-rules.ts";
import { countElements, nameOperator, type OnnxModel, type OnnxTensor } from "./onnx-model.ts";
import type { Shape } from "./shape-rule.ts";
import { SHAPE_RULES } from "./shape-rules.ts";
import { constantTensor, floatsOf, integersOf } from "./tensor-values.ts";

/** Largest rank that is followed; ONNX Runtime's own limits are lower. */
const MAX_RANK = 32;

/**
 * Shapes of all values of a network by name, with `rows` for every free dimension of its inputs. Shapes that need
 * computing, and those that depend on them, are left out.
 * Rules: ONNX's operators since opset 7, https://onnx.ai/onnx/operators.
 */
export function inferShapes(model: OnnxModel, rows: number): Map<string, Shape> {
  return inferFacts(model, rows).shapes;
}

/** What a network says before it runs: shapes as in `inferShapes`, and numbers that follow from shapes and constants. */
export interface ModelFacts {
  readonly shapes: Map<string, Shape>;
  readonly numbers: Map<string, KnownNumbers>;
}

export function inferFacts(model: OnnxModel, rows: number): ModelFacts {
  const shapes = new Map<string, Shape>();
  const known = new Map<string, KnownNumbers>();
  const learn = (name: string, tensor: OnnxTensor) => {
    shapes.set(name, tensor.dims);
    const numbers = numbersOf(tensor);
    if (numbers !== undefined) known.set(name, numbers);
  };
  for (const tensor of model.weights.values()) learn(tensor.name, tensor);
  for (const { name, dims } of model.sparseWeights?.values() ?? []) shapes.set(name, dims);
  for (const { name, shape } of model.inputs) {
    shapes.set(
      name,
      shape.map((size) => (typeof size === "number" ? size : rows)),
    );
  }
  for (const node of model.nodes) {
    const operator = nameOperator(node);
    const constant = node.domain === "" ? constantTensor(node) : null;
    if (constant !== null) {
      learn(node.outputs[0] ?? "", constant);
      continue;
    }
    const inputs = node.inputs.map((name) => shapes.get(name));
    const numbers = (input: number) => known.get(node.inputs[input] ?? "")?.values;
    const rule = SHAPE_RULES.get(operator) ?? GROWING_SHAPE_RULES.get(operator) ?? COMPOUND_SHAPE_RULES.get(operator);
    const found = rule?.({ node, opset: model.opset, inputs, numbers });
    node.outputs.forEach((output, index) => {
      const shape = found?.[index];
      if (output !== "" && shape && canBe(shape)) shapes.set(output, shape);
    });
    if (node.domain !== "") continue;
    const folded = foldNumbers(
      node,
      node.inputs.map((name) => known.get(name)),
      inputs,
    );
    if (folded !== undefined) known.set(node.outputs[0] ?? "", folded);
  }
  return { shapes, numbers: known };
}

function canBe(shape: Shape): boolean {
  return shape.length <= MAX_RANK && shape.every((size) => Number.isSafeInteger(size) && size >= 0);
}

function numbersOf(tensor: OnnxTensor): KnownNumbers | undefined {
  const { dtype, dims, bytes, isLeftOut } = tensor;
  if (isLeftOut || countElements(dims) > MOST_KNOWN) return undefined;
  if (dtype === "float32" || dtype === "float64") return { values: [...floatsOf(tensor)], isWhole: false };
  if (dtype === "int32") return { values: integersOf(tensor), isWhole: true };
  // Not all are exact: "as far as there is" is written as the largest of all.
  if (dtype === "int64")
    return { values: Array.from(new BigInt64Array(new Uint8Array(bytes).buffer), Number), isWhole: true };
  return undefined;
}
