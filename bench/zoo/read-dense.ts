import { type DenseResult, readDenseNetwork } from "../../src/edge/models/read-dense-network.ts";
import { readModel } from "../../src/onnx/read-model.ts";
import type { OnnxValue } from "../../src/onnx/onnx-model.ts";
import { DType } from "../../src/protocol/wire/tensor.ts";

/** The network as the edge would compute it itself, or the reason why it would not. */
export function readDense(file: Uint8Array): DenseResult {
  const { inputs, outputs } = readModel(file);
  const specOf = ({ name, dtype, shape }: OnnxValue) => {
    return { name, dtype: DType.parse(dtype), shape: shape.map((size) => (typeof size === "number" ? size : -1)) };
  };
  return readDenseNetwork(file, { inputs: inputs.map(specOf), outputs: outputs.map(specOf) });
}
