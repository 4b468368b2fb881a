import { type KernelContext, type PreparedKernel, prepareKernel } from "../../src/gpu-runner/gpu/dispatch.ts";
import { KernelCall } from "../../src/gpu-runner/gpu/kernel-call.ts";
import type { KernelChoice } from "../../src/gpu-runner/gpu/resolve-benchmark.ts";
import { inputsOf, type KernelCase, specOf } from "./kernel-case.ts";

/** So much slower than the best so far, a candidate is not tried again. */
const HOPELESS = 1.5;
/** A candidate runs so often and so long at least: short runs are easily disturbed. */
const MIN_RUNS = 3;
const MIN_MS = 20;

export interface Fastest {
  readonly choice: KernelChoice;
  readonly prepared: PreparedKernel;
  readonly call: KernelCall;
}

/** Tries every variant of a kernel with every value of its axes; the best of its runs counts. */
export async function findFastest(context: KernelContext, input: KernelCase, output: string): Promise<Fastest> {
  const inputs = inputsOf(input);
  let best: (Fastest & { readonly ms: number }) | null = null;
  for (const choice of listChoices(input)) {
    const prepared = await prepareKernel(context, choice, inputs);
    const call = new KernelCall(context, prepared, output);
    await call.run();
    const ms = await timeRuns(call, best?.ms ?? Number.POSITIVE_INFINITY);
    if (best === null || ms < best.ms) {
      best?.prepared.release();
      best = { choice, prepared, call, ms };
    } else prepared.release();
  }
  if (best === null) throw new Error("the kernel has no variants");
  return best;
}

async function timeRuns(call: KernelCall, bestMs: number): Promise<number> {
  const startedAt = performance.now();
  let shortestMs = Number.POSITIVE_INFINITY;
  for (let run = 0, now = startedAt; run < MIN_RUNS || now - startedAt < MIN_MS; run++) {
    await call.run();
    const endedAt = performance.now();
    shortestMs = Math.min(shortestMs, endedAt - now);
    now = endedAt;
    if (shortestMs > HOPELESS * bestMs) break;
  }
  return shortestMs;
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
