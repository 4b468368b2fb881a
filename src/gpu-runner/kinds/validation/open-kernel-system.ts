import { randomUUID } from "node:crypto";
import type { Fault } from "../../../protocol/wire/fault.ts";
import type { JobSubject } from "../../../protocol/jobs/job-fields.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { OpenedKernel } from "../../kernels/open-kernels.ts";
import { findTuned } from "../steps/find-tuned.ts";
import type { WorkloadContext } from "../kind.ts";
import type { SystemUnderTest } from "./system-under-test.ts";

export type KernelSubject = Extract<JobSubject, { kind: "kernel" }>;

/** Kernel open on a device, with its measured start. A sample is one dispatch at the subject's shape. */
export interface KernelSystem extends SystemUnderTest {
  readonly deviceKey: string;
  readonly variant: string;
  readonly correctness: OpenedKernel["correctness"];
  /** From nothing to a compiled kernel with its inputs on the device, and from there to the first answer. */
  readonly startup: { readonly loadMs: number; readonly firstAnswerMs: number };
  /** Bytes of the buffers that it holds on the device. */
  readonly gpuBytes: number;
  /** Faults recovered while it was opened. */
  readonly faults: readonly Fault[];
  close(): Promise<void>;
}

/** Dispatches of one submission, which cannot be interrupted. */
const DISPATCHES = 16;
/** Constant seed of the inputs in every validation: a kernel's time may depend on them. */
const INPUT_SEED = 1;

/**
 * Opens a kernel as a subject of load; a device of null means the one that is likely to be free first.
 * It runs tuned where a tuning is known and no variant is named.
 * Throws ProblemError where it cannot be opened, and where its output differs from the reference's.
 * Its queries wait for each other, and for other work on the device.
 */
export async function openKernelSystem(
  { fleet, tunings, signal, onProgress }: Pick<WorkloadContext, "fleet" | "tunings" | "signal" | "onProgress">,
  subject: KernelSubject,
  deviceKey: string | null,
): Promise<KernelSystem> {
  const { kernel, shape, dtype, variant } = subject;
  const { host } = fleet.withKernel(kernel, { variant, ...(deviceKey !== null && { deviceKey }) });
  const problem = { kernel, shape, dtype };
  const tuned = variant === undefined ? await findTuned(tunings, host.device, problem) : null;
  const spec = { ...problem, variant: variant ?? tuned?.variant, seed: INPUT_SEED };
  const kernelKey = randomUUID();
  const timeoutMs = LIMITS.kernelTimeoutMs;
  const { output, faults } = await fleet.guard.run(host, {
    kernel,
    timeoutMs,
    signal,
    onProgress,
    run: (options) => host.work("openKernel", { kernelKey, spec, axes: tuned?.axes ?? {} }, timeoutMs, options),
  });
  const { variant: opened, correctness, loadMs, firstAnswerMs, bufferBytes } = output;
  return {
    deviceKey: host.device.key,
    variant: opened,
    correctness,
    startup: { loadMs, firstAnswerMs },
    gpuBytes: bufferBytes,
    faults,
    maxSamples: DISPATCHES,
    query: async (dispatches) => {
      await host.work("runKernel", { kernelKey, dispatches }, timeoutMs, { signal });
    },
    close: async () => {
      await host.work("closeKernel", { kernelKey }, timeoutMs);
    },
  };
}
