import { setImmediate } from "node:timers/promises";
import type { KernelSpec } from "../../../../kernels/kernel-spec.ts";
import type { BenchmarkSpec } from "../../../protocol/jobs/benchmark.ts";
import { summarise } from "../../../stats/distribution/distribution.ts";
import type { BenchmarkMeasurement, BenchmarkOptions } from "./benchmark-kernel.ts";
import { createReporter } from "../../devices/progress.ts";
import { resolveBenchmark } from "../dispatch/resolve-benchmark.ts";

/** Work between two turns of the event loop: a few milliseconds, so that an abort is noticed. */
const SLICE_FLOPS = 1e6;
/** Cost of an element besides its arithmetic. */
const ELEMENT_FLOPS = 100;

/**
 * Runs a benchmark with the kernel's f64 reference on the CPU, every element once. The result is marked as a fallback:
 * its time is the reference's and does not describe the kernel. Fails like `resolveBenchmark`, or with `cancelled`.
 */
export async function benchmarkReference(
  kernels: ReadonlyMap<string, KernelSpec>,
  spec: BenchmarkSpec,
  { onProgress, signal }: Pick<BenchmarkOptions, "onProgress" | "signal">,
): Promise<BenchmarkMeasurement> {
  const { kernel, shape } = resolveBenchmark(kernels, spec);
  const reference = kernel.reference(kernel.generate(shape, spec.seed), shape);
  const outputs = [reference, ...(reference.others ?? [])];
  const total = outputs.reduce((sum, { length }) => sum + length, 0);
  const report = createReporter(onProgress, signal)("reference");
  let done = 0;
  const startedAtMs = performance.now();
  for (const output of outputs) {
    const slice = Math.ceil(SLICE_FLOPS / (output.elementFlops + ELEMENT_FLOPS));
    for (let index = 0; index < output.length; index++, done++) {
      if (done % slice === 0) {
        report(done, total);
        await setImmediate();
      }
      output.element(index);
    }
  }
  const tookMs = performance.now() - startedAtMs;
  const flops = kernel.flops(shape);
  return {
    kernel: kernel.name,
    variant: "f64-reference",
    axes: {},
    defaultAxes: true,
    shape: { ...shape },
    dtype: spec.dtype ?? kernel.dtypes[0],
    correctness: {
      correct: true,
      checkedElements: total,
      maxAbsoluteError: 0,
      maxRelativeError: 0,
      tolerance: "none: this is the f64 reference itself",
    },
    warmup: 0,
    gpuMs: null,
    wallMs: summarise([tookMs]),
    clock: "runner-wall",
    gflops: flops === 0 ? null : flops / tookMs / 1e6,
    gigabytesPerSecond: kernel.bytes(shape) / tookMs / 1e6,
    occupancy: null,
    counters: null,
    trace: null,
    traceText: null,
    samples: { gpuMs: null, wallMs: Float64Array.of(tookMs) },
    fallback: "cpu-reference",
  };
}
