import { InferenceSession, Tensor } from "onnxruntime-node";
import type { HeldOut, HeldOutTensor } from "../src/protocol/models/held-out-file.ts";

/** A network's answers to all samples of a held-out part: its first output, by ONNX Runtime on the CPU. */
export async function answerHeldOut(file: Uint8Array, { inputs }: HeldOut): Promise<HeldOutTensor> {
  const session = await InferenceSession.create(file, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    // As the runner has it: processors without VNNI overflow otherwise.
    extra: { session: { x64quantprecision: "1" } },
  });
  try {
    const feeds = [...inputs].map(([name, { shape, values }]) => [name, new Tensor("float32", values, shape)] as const);
    const output = (await session.run(Object.fromEntries(feeds)))[session.outputNames[0]!]!;
    return { shape: output.dims, values: Float32Array.from(output.data as Float32Array) };
  } finally {
    await session.release();
  }
}
