import { type KernelContext, type PreparedKernel, prepareKernel } from "../../src/gpu-runner/gpu/dispatch.ts";
import type { KernelChoice } from "../../src/gpu-runner/gpu/resolve-benchmark.ts";
import { inputsOf, type KernelCase, specOf } from "./kernel-case.ts";

/** So much slower than the best so far, a candidate is not tried a second time. */
const HOPELESS = 1.5;

export interface Fastest {
  readonly choice: KernelChoice;
  readonly prepared: PreparedKernel;
}

/** Tries every variant of a kernel with every value of its axes: the best of three runs each. */
export async function findFastest(context: KernelContext, input: KernelCase, output: string): Promise<Fastest> {
  const inputs = inputsOf(input);
  let best: (Fastest & { readonly ms: number }) | null = null;
  for (const choice of listChoices(input)) {
    const prepared = await prepareKernel(context, choice, inputs);
    await prepared.run(output);
    let ms = await timeRun(prepared, output);
    for (let i = 0; i < 2 && (best === null || ms < HOPELESS * best.ms); i++) {
      ms = Math.min(ms, await timeRun(prepared, output));
    }
    if (best === null || ms < best.ms) {
      best?.prepared.release();
      best = { choice, prepared, ms };
    } else prepared.release();
  }
  if (best === null) throw new Error("the kernel has no variants");
  return best;
}

async function timeRun(prepared: PreparedKernel, output: string): Promise<number> {
  const startedAt = performance.now();
  await prepared.run(output);
  return performance.now() - startedAt;
}

function listChoices(input: KernelCase): KernelChoice[] {
  const kernel = specOf(input);
  return kernel.variants.flatMap((variant) => {
    let settings: Record<string, number>[] = [{}];
    for (const { name, values } of variant.axes) {
      settings = settings.flatMap((chosen) => values.map((value) => ({ ...chosen, [name]: value })));
    }
    return settings.map((axes) => ({ kernel, variant, shape: input.shape, axes }));
  });
}
