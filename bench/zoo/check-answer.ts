import { InferenceSession, Tensor } from "onnxruntime-node";
import { AGREEMENT } from "../../src/gpu-runner/networks/compare-outputs.ts";
import { readInputs, readNetwork, type ZooCase } from "../../models/zoo-case.ts";

/** Throws where an output differs from that of ONNX Runtime's CPU provider without its optimisations. */
export async function checkAnswer(input: ZooCase, output: Float32Array): Promise<void> {
  const session = await InferenceSession.create(await readNetwork(input), { graphOptimizationLevel: "disabled" });
  const feeds = (await readInputs(input)).map(({ name, shape, values }) => [
    name,
    new Tensor("float32", values, shape),
  ]);
  const wanted = (await session.run(Object.fromEntries(feeds) as Record<string, Tensor>))[session.outputNames[0]!]!;
  await session.release();
  const values = wanted.data as Float32Array;
  if (output.length !== values.length) throw new Error(`it has ${output.length} elements, not ${values.length}`);
  const scale = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const error = values.reduce((most, value, at) => Math.max(most, Math.abs(value - output[at]!)), 0) / scale;
  if (!(error <= AGREEMENT)) throw new Error(`it is off by ${error} of the largest`);
}
