import { InferenceSession, Tensor } from "onnxruntime-node";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { writeOnnxGraph } from "../../src/gpu-runner/devices/ort/write-onnx-graph.ts";
import { type KernelCase, runsOf } from "./kernel-case.ts";
import { createOnnxOperation, type OnnxOperation } from "./onnx-operations.ts";

const WEBGPU: InferenceSession.SessionOptions = { executionProviders: ["webgpu"], logSeverityLevel: 3 };
const ON_GPU: InferenceSession.SessionOptions = { ...WEBGPU, preferredOutputLocation: "gpu-buffer" };

type Run = (count: number) => Promise<Float32Array>;

/** ONNX Runtime's WebGPU provider; it selects its adapter itself and does not report which. */
export const contender: Contender<KernelCase> = async (input) => {
  const operation = createOnnxOperation(input);
  const run = input.mode === "round-trip" ? await openRoundTrip(operation) : await openStream(operation);
  const entry = await createBatchEntry(run, runsOf(input), { adapter: null });
  return { ...entry, opened: { ...entry.opened, output: operation.arrange(entry.opened.output) } };
};

async function openRoundTrip({ file, feeds, output }: OnnxOperation): Promise<Run> {
  const session = await InferenceSession.create(file, WEBGPU);
  return async () => {
    const tensors = feeds.map(({ name, shape, values }) => [name, new Tensor("float32", values, shape)]);
    return (await session.run(Object.fromEntries(tensors)))[output]?.data as Float32Array;
  };
}

/** A session's outputs all stay on the GPU or all come back, so there is one of each. */
async function openStream({ file, feeds, output }: OnnxOperation): Promise<Run> {
  const [staying, returning] = [
    await InferenceSession.create(file, ON_GPU),
    await InferenceSession.create(file, WEBGPU),
  ];
  const resident: Record<string, Tensor> = {};
  for (const { name, shape, values } of feeds) resident[name] = await upload(values, shape);
  return async (count) => {
    for (let i = 1; i < count; i++) (await staying.run(resident))[output]?.dispose();
    return (await returning.run(resident))[output]?.data as Float32Array;
  };
}

/** There is no upload call: −(−x) through a network whose output stays does it. */
async function upload(values: Float32Array, shape: readonly number[]): Promise<Tensor> {
  const session = await InferenceSession.create(
    writeOnnxGraph({
      name: "upload",
      inputs: [{ name: "x", shape }],
      outputs: [{ name: "y", shape }],
      nodes: [{ operator: "Neg", inputs: ["x"], output: "y" }],
    }),
    ON_GPU,
  );
  const { y } = await session.run({
    x: new Tensor(
      "float32",
      values.map((each) => -each),
      shape,
    ),
  });
  if (y?.location !== "gpu-buffer") throw new Error("it does not keep tensors on the GPU");
  return y;
}
