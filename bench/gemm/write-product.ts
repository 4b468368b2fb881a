import { writeOnnxGraph } from "../write-onnx-graph.ts";

/** An ONNX file that holds C = A·B of square matrices, and nothing else. */
export function writeProduct(size: number): Uint8Array<ArrayBuffer> {
  const value = (name: string) => ({ name, shape: [size, size] });
  return writeOnnxGraph({
    name: "product",
    inputs: [value("a"), value("b")],
    outputs: [value("c")],
    nodes: [{ operator: "MatMul", inputs: ["a", "b"], output: "c" }],
  });
}
