import { createBatchEntry } from "../batch-entry.ts";
import type { Entry } from "../contest.ts";
import { type KernelCase, runsOf } from "./kernel-case.ts";
import { createTfjsOperation, type Tensor, type Tfjs } from "./tfjs-operations.ts";

/** TensorFlow.js on its current backend; `adapter` is that backend's. */
export function createTfjsEntry(tf: Tfjs, input: KernelCase, adapter: string | null): Promise<Entry> {
  const operation = createTfjsOperation(tf, input);
  const upload = () => operation.inputs.map(({ values, shape }) => tf.tensor(values, shape));
  const runOn = async (tensors: readonly Tensor[]) => {
    const result = operation.run(tensors);
    const output = await result.data();
    result.dispose();
    return output;
  };

  const roundTrip = async () => {
    const tensors = upload();
    const output = await runOn(tensors);
    for (const tensor of tensors) tensor.dispose();
    return output;
  };
  const resident = upload();
  const stream = (count: number) => {
    for (let i = 1; i < count; i++) operation.run(resident).dispose();
    return runOn(resident);
  };
  return createBatchEntry(input.mode === "round-trip" ? roundTrip : stream, runsOf(input), { adapter });
}
