import type { Clock } from "../../../protocol/wire/distribution.ts";
import { toProblem } from "../../../protocol/wire/problem.ts";
import type { BenchmarkDevice } from "../benchmark/benchmark-kernel.ts";
import { chooseSearchClock, measureKernel } from "../benchmark/measure-kernel.ts";
import { compareOutputs, type ExpectedOutput, expectOutput } from "../benchmark/check-output.ts";
import { type RunnableKernel, uploadKernel } from "../dispatch/dispatch.ts";
import { withErrorScopes } from "../../devices/gpu/error-scopes.ts";
import type { Candidate } from "./list-candidates.ts";
import type { KernelChoice } from "../dispatch/resolve-benchmark.ts";
import { RunForecast } from "../../devices/gpu/wait-for-gpu.ts";
import { GpuTimer } from "../../devices/gpu/timer.ts";

export type Verdict =
  | { readonly outcome: "ran"; readonly ms: number }
  | { readonly outcome: "wrong" | "invalid"; readonly reason: string };

/** Checks and times candidates of one problem with shared inputs, reference and clock. */
export interface TrialStand {
  /** Clock of all times. */
  readonly clock: Clock;
  /**
   * Compiles a candidate, compares its outputs, and returns the shorter of two runs, or a single run longer than
   * `hopelessMs`.
   */
  check(index: number, candidate: Candidate, hopelessMs: number): Promise<Verdict>;
  /** Another run of a correct candidate, in milliseconds. */
  time(index: number): Promise<number>;
  release(): void;
}

interface RunDurations {
  readonly wallMs: number;
  readonly gpuMs: number | null;
}

function shortestOf({ wallMs, gpuMs }: RunDurations): number {
  return Math.min(wallMs, gpuMs ?? wallMs);
}

/** Least duration of a run, since a clock's tick may show none. */
const SHORTEST_MS = 1e-6;

/**
 * Uploads the inputs of a problem and computes its reference once for all of its candidates. Fails with `kernel-invalid`
 * where the inputs do not fit.
 */
export async function openTrialStand(
  target: BenchmarkDevice,
  problem: Pick<KernelChoice, "kernel" | "shape">,
  seed: number,
  onSlice: () => void,
): Promise<TrialStand> {
  const { device, gpu, pool, description } = target;
  const { kernel, shape } = problem;
  const inputs = kernel.generate(shape, seed);
  const reference = kernel.reference(inputs, shape);
  // Every candidate is compared with the same numbers, and the reference may take longer than all of their runs.
  const expected: ExpectedOutput[] = [];
  for (const each of [reference, ...(reference.others ?? [])]) expected.push(await expectOutput(each, seed, onSlice));
  const uploaded = await uploadKernel(target, problem, inputs);
  const timer = device.features.has("timestamp-query") ? new GpuTimer(device, pool) : null;
  const runnable = new Map<number, RunnableKernel>();
  const forecasts = new Map<number, RunForecast>();
  const clock = chooseSearchClock(description);

  async function runOnce(index: number, run: RunnableKernel): Promise<RunDurations> {
    const forecast = forecasts.get(index) ?? new RunForecast();
    forecasts.set(index, forecast);
    const samples = await withErrorScopes(device, () => measureKernel(device, run, timer, 1, () => {}, { forecast }));
    gpu.throwUncaptured();
    return { wallMs: samples.wallMs[0] ?? Number.NaN, gpuMs: samples.gpuMs?.[0] ?? null };
  }

  function readClock({ wallMs, gpuMs }: RunDurations): number {
    return Math.max(SHORTEST_MS, clock === "gpu-timestamp" && gpuMs !== null ? gpuMs : wallMs);
  }

  async function checkRun(index: number, candidate: Candidate, hopelessMs: number): Promise<number> {
    const run = await uploaded.prepare(candidate);
    uploaded.reset();
    const first = await runOnce(index, run);
    const outputs = await Promise.all(expected.map(({ output }) => run.read(output)));
    compareOutputs(outputs, expected, kernel.tolerance, shape);
    runnable.set(index, run);
    // The first run may include work that the driver compiles late.
    const second = shortestOf(first) > hopelessMs ? first : await runOnce(index, run);
    return Math.min(readClock(first), readClock(second));
  }

  return {
    clock,
    check: (index, candidate, hopelessMs) =>
      checkRun(index, candidate, hopelessMs).then(
        (ms): Verdict => ({ outcome: "ran", ms }),
        (error: unknown): Verdict => {
          const { code, detail } = toProblem(error);
          if (code === "kernel-incorrect") return { outcome: "wrong", reason: detail };
          if (code === "kernel-invalid" || code === "backend-failed") return { outcome: "invalid", reason: detail };
          throw error;
        },
      ),
    async time(index) {
      const run = runnable.get(index);
      if (run === undefined) throw new TypeError("the candidate was not checked");
      return readClock(await runOnce(index, run));
    },
    release() {
      timer?.destroy();
      uploaded.release();
    },
  };
}
