import type { OnnxAttribute, OnnxModel, OnnxNode, OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatTensor, integerTensor } from "../../onnx/tensor-values.ts";

/** Files of before ONNX IR 4 had to list their weights among their inputs; what is written here does not. */
const FIRST_IR_WITH_FREE_WEIGHTS = 4;

/** The same network, what its Constant nodes say being among its weights. */
export function hoistConstants(model: OnnxModel): OnnxModel {
  const weights = new Map(model.weights);
  const outputs = new Set(model.outputs.map(({ name }) => name));
  const nodes = model.nodes.filter((node) => {
    const tensor = constantOf(node);
    if (tensor === undefined || outputs.has(tensor.name)) return true;
    weights.set(tensor.name, tensor);
    return false;
  });
  return { ...model, irVersion: Math.max(model.irVersion, FIRST_IR_WITH_FREE_WEIGHTS), nodes, weights };
}

function constantOf({ operator, domain, outputs, attributes }: OnnxNode): OnnxTensor | undefined {
  const [attribute] = attributes.values();
  return operator === "Constant" && domain === "" && attribute ? tensorOf(outputs[0]!, attribute) : undefined;
}

function tensorOf(name: string, attribute: OnnxAttribute): OnnxTensor | undefined {
  switch (attribute.kind) {
    case "tensor":
      return { ...attribute.value, name };
    case "float":
      return floatTensor(name, [], Float32Array.of(attribute.value));
    case "floats":
      return floatTensor(name, [attribute.value.length], Float32Array.from(attribute.value));
    case "int":
      return { ...integerTensor(name, [attribute.value]), dims: [] };
    case "ints":
      return integerTensor(name, attribute.value);
    case "string":
    case "strings":
    case "other":
      return undefined;
  }
}
