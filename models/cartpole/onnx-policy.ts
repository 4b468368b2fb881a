import { InferenceSession, Tensor } from "onnxruntime-node";
import type { Policy } from "./evaluate.ts";

/** Takes the action with the higher logit of an ONNX file (`observation` → `logits`), run on one CPU thread. */
export async function onnxPolicy(model: Uint8Array): Promise<Policy> {
  const session = await InferenceSession.create(model, { intraOpNumThreads: 1, executionProviders: ["cpu"] });
  return async (observation) => {
    const { logits } = await session.run({ observation: new Tensor("float32", observation, [1, 4]) });
    const [left, right] = logits!.data as Float32Array;
    return right! > left! ? 1 : 0;
  };
}
