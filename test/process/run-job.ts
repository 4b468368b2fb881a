import type { DeviceFleet } from "../../src/gpu-runner/serving/device-fleet.ts";
import { runBenchmark } from "../../src/gpu-runner/kinds/benchmark.ts";
import { BenchmarkResult, BenchmarkSpec } from "../../src/protocol/jobs/benchmark.ts";
import type { JobProgress } from "../../src/protocol/jobs/job.ts";

interface JobOptions {
  readonly onProgress?: ((progress: JobProgress) => void) | undefined;
  readonly signal?: AbortSignal;
}

/** A benchmark job as the runner does it: with its guard, its second try and its way out. Neither tunings nor roofs are known. */
export async function runJob(
  fleet: DeviceFleet,
  spec: object,
  { onProgress = () => {}, signal = new AbortController().signal }: JobOptions = {},
) {
  const context = {
    fleet,
    program: null,
    tunings: { find: async () => null },
    rooflines: { ensure: async () => ({ roofline: null, missing: "not measured" }) },
    otherJobs: 0,
    signal,
    onProgress,
  };
  const { result, deviceKey } = await runBenchmark(
    BenchmarkSpec.parse({ kind: "benchmark", ...spec }),
    context as never,
  );
  return { result: BenchmarkResult.parse(result), deviceKey };
}
