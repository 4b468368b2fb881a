import type { KernelArrays } from "../../../kernels/kernel-spec.ts";
import type { BenchmarkResult } from "../../protocol/benchmark.ts";
import type { BenchmarkDevice } from "./benchmark-kernel.ts";
import { checkOutputs } from "./check-output.ts";
import type { RunnableKernel } from "./dispatch.ts";
import { withErrorScopes } from "./error-scopes.ts";
import type { KernelChoice } from "./resolve-benchmark.ts";
import { recordSpan } from "./span-recorder.ts";

/** Compares the outputs of the run that `run` submits, or else of the last one. */
export async function checkRun(
  target: BenchmarkDevice,
  { kernel, shape }: KernelChoice,
  prepared: RunnableKernel,
  inputs: KernelArrays,
  seed: number,
  report: (done: number, total: number) => void,
  run?: () => void,
): Promise<BenchmarkResult["correctness"]> {
  report(0, 1);
  const reference = kernel.reference(inputs, shape);
  const references = [reference, ...(reference.others ?? [])];
  const { device, recorder } = target;
  const outputs = await withErrorScopes(device, async () => {
    run?.();
    // Else reading would include the run.
    if (recorder !== undefined) await recordSpan(recorder, "compute", () => device.queue.onSubmittedWorkDone());
    return recordSpan(recorder, "readback", () => Promise.all(references.map(({ output }) => prepared.read(output))));
  });
  target.gpu.throwUncaptured();
  return checkOutputs(outputs, references, kernel.tolerance, shape, seed, report);
}
