import { InferenceSession, Tensor } from "onnxruntime-node";
import { EXACT_WHOLE_PRODUCTS, prepareExact } from "../../../../src/gpu-runner/devices/ort/ort-backend.ts";
import type { OnnxModel } from "../../../../src/onnx/onnx-model.ts";
import { writeModel } from "../../../../src/onnx/write-model.ts";
import type { Values } from "./interpret.ts";

/** Answers of ONNX Runtime's CPU provider. */
export async function answerNetwork(
  model: OnnxModel,
  inputs: ReadonlyMap<string, Values>,
): Promise<Map<string, Values>> {
  const exact = prepareExact(model);
  const session = await InferenceSession.create(writeModel(exact ?? model), {
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
    ...(exact !== null && { extra: { session: EXACT_WHOLE_PRODUCTS } }),
  });
  try {
    const feeds = [...inputs].map(([name, { dims, data }]) => [name, new Tensor("float32", data, [...dims])] as const);
    const answers = await session.run(Object.fromEntries(feeds));
    return new Map(
      Object.entries(answers).map(([name, { dims, data }]) => [name, { dims, data: [...(data as Float32Array)] }]),
    );
  } finally {
    await session.release();
  }
}
