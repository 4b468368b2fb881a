import type { KernelArrays, KernelSpec } from "../../../../kernels/kernel-spec.ts";
import { mlpPopulation } from "../../../../kernels/mlp-population/mlp-population.kernel.ts";
import type { BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";
import type { BenchmarkMeasurement, BenchmarkOptions } from "./benchmark-kernel.ts";
import { checkOutput } from "./check-output.ts";
import { createReporter } from "../../devices/progress.ts";
import { type KernelChoice, resolveBenchmark } from "../dispatch/resolve-benchmark.ts";
import { type OpenPopulation, openPopulation } from "../../devices/cpu-simd/open-population.ts";

/** Kernels with a twin on the CPU, each with that one variant. */
export const SIMD_KERNELS: ReadonlyMap<string, KernelSpec> = new Map([
  [
    mlpPopulation.name,
    {
      ...(mlpPopulation as KernelSpec),
      variants: [{ name: "cpu-simd", file: "mlp-population.ts", axes: [], passes: [] }],
    },
  ],
]);

/** Checks a population on the CPU against the f64 reference and then times it run by run; fails like `benchmarkKernel`. */
export async function benchmarkPopulation(
  spec: BenchmarkSpec,
  { onProgress, signal }: Pick<BenchmarkOptions, "onProgress" | "signal">,
): Promise<BenchmarkMeasurement> {
  const { kernel, variant, shape } = resolveBenchmark(SIMD_KERNELS, spec);
  const report = createReporter(onProgress, signal);
  report("compile")(0, 1);
  const population = await openPopulation(shape);
  try {
    const inputs = kernel.generate(shape, spec.seed);
    population.upload(inputs);
    await population.run();
    const correctness = await checkPopulation({ kernel, shape }, population, inputs, spec.seed, report("check"));
    await timeRuns(population, spec.warmup, report("warmup"));
    const samplesMs = await timeRuns(population, spec.iterations, report("measure"));
    const wallMs = summarise(samplesMs);
    const seconds = wallMs.p50 / 1e3;
    return {
      kernel: kernel.name,
      variant: variant.name,
      axes: {},
      defaultAxes: true,
      backend: "cpu-simd",
      shape: { ...shape },
      dtype: spec.dtype ?? kernel.dtypes[0],
      correctness,
      warmup: spec.warmup,
      counters: null,
      occupancy: null,
      trace: null,
      traceText: null,
      samples: { gpuMs: null, wallMs: samplesMs },
      gpuMs: null,
      wallMs,
      clock: "runner-wall",
      gflops: kernel.flops(shape) / seconds / 1e9,
      gigabytesPerSecond: kernel.bytes(shape) / seconds / 1e9,
    };
  } finally {
    await population.release();
  }
}

/** Compares the outputs of the last run with the f64 reference. Fails with `kernel-incorrect`. */
export async function checkPopulation(
  { kernel, shape }: Pick<KernelChoice, "kernel" | "shape">,
  population: OpenPopulation,
  inputs: KernelArrays,
  seed: number,
  report: (done: number, total: number) => void,
): Promise<BenchmarkMeasurement["correctness"]> {
  report(0, 1);
  const reference = kernel.reference(inputs, shape);
  return checkOutput(population.read(), reference, kernel.tolerance, shape, seed, report);
}

async function timeRuns(
  population: OpenPopulation,
  runs: number,
  beforeRun: (done: number, total: number) => void,
): Promise<Float64Array<ArrayBuffer>> {
  const durationsMs = new Float64Array(runs);
  for (let run = 0; run < runs; run++) {
    beforeRun(run, runs);
    const startedAt = performance.now();
    await population.run();
    durationsMs[run] = performance.now() - startedAt;
  }
  return durationsMs;
}
