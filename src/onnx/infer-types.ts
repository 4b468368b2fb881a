import { DTYPES, intOf, type OnnxDtype, type OnnxModel, type OnnxNode } from "./onnx-model.ts";
import { constantTensor } from "./tensor-values.ts";

type Types = readonly (OnnxDtype | undefined)[];

/** Types of the values of a network by name; operators that no rule names keep the type of their first input. */
export function inferTypes(model: OnnxModel): Map<string, OnnxDtype> {
  const types = new Map<string, OnnxDtype>();
  for (const { name, dtype } of [...model.weights.values(), ...model.inputs]) types.set(name, dtype);
  for (const node of model.nodes) {
    const inputs = node.inputs.map((name) => types.get(name));
    for (const [output, name] of node.outputs.entries()) {
      const found = typeOf(node, inputs, output);
      if (found !== undefined) types.set(name, found);
    }
  }
  return types;
}

const TESTS = new Set("And Equal Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Not Or Xor".split(" "));

function typeOf(node: OnnxNode, inputs: Types, output: number): OnnxDtype | undefined {
  if (TESTS.has(node.operator)) return "bool";
  switch (node.operator) {
    case "ArgMax":
    case "ArgMin":
    case "NonZero":
    case "Shape":
    case "Size":
      return "int64";
    case "TopK":
      return output === 1 ? "int64" : inputs[0];
    case "Dropout":
      return output === 1 ? "bool" : inputs[0];
    case "Cast":
      return DTYPES.get(intOf(node, "to", 0));
    case "CastLike":
    case "DequantizeLinear":
    case "Where":
      return inputs[1];
    case "QuantizeLinear":
      return inputs[2] ?? "uint8";
    case "OneHot":
      return inputs[2];
    case "Constant":
      return constantTensor(node)?.dtype;
    case "ConstantOfShape": {
      const value = node.attributes.get("value");
      return value?.kind === "tensor" ? value.value.dtype : "float32";
    }
    default:
      return inputs[0];
  }
}
