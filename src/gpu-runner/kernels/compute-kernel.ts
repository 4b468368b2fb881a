import type { KernelArrays, KernelShape } from "../../../kernels/kernel-spec.ts";
import type { ServiceTimes } from "../../protocol/inference/inference.ts";
import type { BenchmarkDevice } from "./benchmark/benchmark-kernel.ts";
import { prepareKernel } from "./dispatch/dispatch.ts";
import { withErrorScopes } from "../devices/gpu/error-scopes.ts";
import type { ResidentBuffers } from "../devices/gpu/resident-buffers.ts";
import { resolveBenchmark } from "./dispatch/resolve-benchmark.ts";
import { shareCoreUntil } from "../devices/gpu/wait-for-gpu.ts";

/** Kernel with inputs from a caller. */
export interface ComputeRequest {
  readonly kernel: string;
  readonly shape: KernelShape;
  /** Seed of inputs that are neither given nor resident. */
  readonly seed: number;
  /** Dense values by binding. The kernel generates inputs that are neither here nor resident, such as tables. */
  readonly inputs: KernelArrays;
  /** Names of inputs that are already on the device, padded like their bindings, by binding. */
  readonly resident: Readonly<Record<string, string>>;
}

export interface ComputeOutcome {
  /** Dense values by binding. */
  readonly outputs: KernelArrays;
  readonly variant: string;
  readonly times: Omit<ServiceTimes, "queueMs">;
}

/**
 * Computes a kernel once on given inputs. Fails like `benchmarkKernel`, but does not check outputs, since the inputs
 * are the caller's.
 */
export async function computeKernel(
  target: BenchmarkDevice & { readonly residents: ResidentBuffers },
  { kernel: name, shape, seed, inputs, resident }: ComputeRequest,
): Promise<ComputeOutcome> {
  const { device, gpu, kernels, residents } = target;
  const choice = resolveBenchmark(kernels, { kernel: name, shape });
  const { kernel } = choice;
  const given = new Map(Object.entries(resident).map(([binding, key]) => [binding, residents.bufferOf(key)]));
  const startedMs = performance.now();
  const wanted = kernel.bindings.filter(({ access, name: each }) => access === "read" && !given.has(each));
  const own = wanted.every((binding) => inputs[binding.name] !== undefined) ? {} : kernel.generate(choice.shape, seed);
  const prepared = await prepareKernel({ ...target, given }, choice, { ...own, ...inputs });
  try {
    const uploadedMs = performance.now();
    await withErrorScopes(device, async () => {
      device.queue.submit([prepared.encode()]);
      await shareCoreUntil(device.queue.onSubmittedWorkDone());
    });
    gpu.throwUncaptured();
    const computedMs = performance.now();
    const outputs: Record<string, KernelArrays[string]> = {};
    for (const output of prepared.outputs) outputs[output.name] = await prepared.read(output.name);
    const times = {
      uploadMs: uploadedMs - startedMs,
      computeMs: computedMs - uploadedMs,
      readbackMs: performance.now() - computedMs,
    };
    return { outputs, variant: choice.variant.name, times };
  } finally {
    prepared.release();
  }
}
