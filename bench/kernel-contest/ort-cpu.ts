import { InferenceSession, Tensor } from "onnxruntime-node";
import { createBatchEntry } from "../batch-entry.ts";
import type { Contender } from "../contest.ts";
import { type KernelCase, runsOf } from "./kernel-case.ts";
import { createOnnxOperation } from "./onnx-operations.ts";

/** ONNX Runtime's CPU provider with its default number of threads: no adapter, but the machine's result without one. */
export const contender: Contender<KernelCase> = async (input) => {
  const operation = createOnnxOperation(input);
  const { file, feeds, output } = operation;
  const session = await InferenceSession.create(file, { executionProviders: ["cpu"], logSeverityLevel: 3 });
  const tensors = Object.fromEntries(
    feeds.map(({ name, shape, values }) => [name, new Tensor("float32", values, shape)]),
  );
  // It computes in host memory, so a round trip is a run.
  const run = async (count: number): Promise<Float32Array> => {
    for (let i = 1; i < count; i++) await session.run(tensors);
    return (await session.run(tensors))[output]?.data as Float32Array;
  };
  const entry = await createBatchEntry(run, runsOf(input), { adapter: null });
  return { ...entry, opened: { ...entry.opened, output: operation.arrange(entry.opened.output) } };
};
