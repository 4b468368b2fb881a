import type { OnnxNode, OnnxTensor } from "../../onnx/onnx-model.ts";
import { floatTensor } from "../../onnx/tensor-values.ts";
import { makeNode } from "./make-node.ts";
import type { Quantisation } from "./quantise-linear.ts";

/** An activation that is told by whole numbers between the node that computes it and those that read it. */
export interface StoredActivation {
  readonly quantisation: Quantisation;
  /** Its name where it is computed, and where it is read. */
  readonly written: string;
  readonly read: string;
  readonly tensors: readonly OnnxTensor[];
  /** What comes between the two. */
  readonly nodes: readonly OnnxNode[];
}

/** Gives an activation its two nodes. What leaves the network keeps its name behind them, all else before them. */
export function storeActivation(
  name: string,
  leaves: boolean,
  quantisation: Quantisation,
  free: (wished: string) => string,
): StoredActivation {
  const written = leaves ? free(`${name}_float`) : name;
  const read = leaves ? name : free(`${name}_dequantised`);
  const scale = floatTensor(free(`${name}_scale`), [], Float32Array.of(quantisation.scale));
  const zeroPoint: OnnxTensor = {
    name: free(`${name}_zero_point`),
    dtype: "uint8",
    dims: [],
    bytes: Uint8Array.of(quantisation.zeroPoint),
  };
  const whole = free(`${name}_uint8`);
  const nodes = [
    makeNode("QuantizeLinear", [written, scale.name, zeroPoint.name], whole),
    makeNode("DequantizeLinear", [whole, scale.name, zeroPoint.name], read),
  ];
  return { quantisation, written, read, tensors: [scale, zeroPoint], nodes };
}
