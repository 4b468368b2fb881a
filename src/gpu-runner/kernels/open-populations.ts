import { ProblemError } from "../../protocol/wire/problem.ts";
import type { BenchmarkOptions } from "./benchmark/benchmark-kernel.ts";
import { createReporter } from "../devices/progress.ts";
import type { KernelRequest, OpenedKernel } from "./open-kernels.ts";
import { resolveBenchmark } from "./dispatch/resolve-benchmark.ts";
import { checkPopulation, SIMD_KERNELS } from "./benchmark/benchmark-population.ts";
import { type OpenPopulation, openPopulation } from "../devices/cpu-simd/open-population.ts";

/** Populations that are kept ready to run, by name; the CPU counterpart of `OpenKernels`. */
export class OpenPopulations {
  readonly #kept = new Map<string, OpenPopulation>();

  /**
   * Starts a population, uploads its inputs and checks one run; replaces a population of this name. Fails like
   * `benchmarkPopulation`.
   */
  async open(
    key: string,
    request: KernelRequest,
    { onProgress, signal }: Pick<BenchmarkOptions, "onProgress" | "signal">,
  ): Promise<OpenedKernel> {
    await this.close(key);
    const choice = resolveBenchmark(SIMD_KERNELS, request);
    const report = createReporter(onProgress, signal);
    report("compile")(0, 1);
    const inputs = choice.kernel.generate(choice.shape, request.seed);
    const startedMs = performance.now();
    const population = await openPopulation(choice.shape);
    try {
      population.upload(inputs);
      const loadedMs = performance.now();
      await population.run();
      const answeredMs = performance.now();
      const correctness = await checkPopulation(choice, population, inputs, request.seed, report("check"));
      this.#kept.set(key, population);
      const times = { loadMs: loadedMs - startedMs, firstAnswerMs: answeredMs - loadedMs };
      return { variant: choice.variant.name, correctness, bufferBytes: 0, ...times };
    } catch (error) {
      await population.release();
      throw error;
    }
  }

  /** Runs an open population this many times. Fails with `device-lost` where it is no longer open. */
  async run(key: string, runs: number): Promise<void> {
    const population = this.#kept.get(key);
    if (population === undefined) {
      throw new ProblemError("device-lost", "The process in which the kernel was open has ended");
    }
    for (let run = 0; run < runs; run++) await population.run();
  }

  /** Ends its threads; an unknown name is no error. */
  async close(key: string): Promise<void> {
    const population = this.#kept.get(key);
    this.#kept.delete(key);
    await population?.release();
  }
}
