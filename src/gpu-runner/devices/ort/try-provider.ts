import { ProblemError } from "../../../protocol/wire/problem.ts";
import { type Tensor, typedView } from "../../../protocol/wire/tensor.ts";
import type { OrtBackend } from "./ort-backend.ts";
import { writeOnnxGraph } from "./write-onnx-graph.ts";

const MODEL_KEY = "try-provider";
const VALUES = Float32Array.of(1, 2, 3, 4);
const EXPECTED = 30;

/** Runs `VALUES · VALUES` once. Fails with `backend-failed` or `invalid-model` where the provider does not work here. */
export async function tryProvider(ort: OrtBackend): Promise<void> {
  const file = writeOnnxGraph({
    name: "dot",
    inputs: [{ name: "x", shape: [1, VALUES.length] }],
    outputs: [{ name: "y", shape: [1, 1] }],
    constants: [{ name: "w", shape: [VALUES.length, 1], values: VALUES }],
    nodes: [{ operator: "MatMul", inputs: ["x", "w"], output: "y" }],
  });
  await ort.load(MODEL_KEY, file);
  const x: Tensor = { name: "x", dtype: "float32", shape: [1, 4], bytes: new Uint8Array(VALUES.buffer) };
  const [y] = (await ort.run(MODEL_KEY, [x])).tensors;
  await ort.unload(MODEL_KEY);
  const found = y === undefined ? undefined : typedView(y)[0];
  if (found !== EXPECTED) throw new ProblemError("backend-failed", `The provider computes ${found} for ${EXPECTED}`);
}
