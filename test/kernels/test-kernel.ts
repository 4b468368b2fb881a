import { beforeAll, describe, expect, test } from "vitest";
import type { AxisValues, KernelShape, KernelSpec } from "../../kernels/kernel-spec.ts";
import { BenchmarkSpec } from "../../src/protocol/jobs/benchmark.ts";
import type { DeviceHost } from "../../src/gpu-runner/device-host/device-host.ts";
import { openAdapters } from "./open-adapters.ts";

/** A software GPU on a busy machine takes its time at the largest shapes. */
const TIMEOUT_MS = 300_000;

/**
 * Declares the tests of a kernel: every variant at every shape, and every value of every tuning axis
 * at the first one. A run compares with the f64 reference and fails where they differ; on an adapter that
 * lacks a feature which the kernel needs, it has to be refused for that reason. `shapeAxes` has,
 * by variant, what the shapes run with where a software device would take minutes with the defaults.
 */
export function testKernel(
  spec: KernelSpec,
  shapes: readonly [KernelShape, ...KernelShape[]],
  shapeAxes: Readonly<Record<string, AxisValues>> = {},
): void {
  let adapters: readonly DeviceHost[] = [];
  beforeAll(async () => {
    adapters = await openAdapters();
  }, TIMEOUT_MS);

  async function checkRun(variant: string, shape: KernelShape, axes: AxisValues = {}): Promise<void> {
    expect(adapters).not.toHaveLength(0);
    for (const adapter of adapters) {
      const benchmark = BenchmarkSpec.parse({
        kind: "benchmark",
        kernel: spec.name,
        variant,
        shape,
        warmup: 0,
        iterations: 1,
        timeoutMs: TIMEOUT_MS,
      });
      const missing = (spec.features ?? []).filter((feature) => !adapter.device.features.includes(feature));
      if (missing.length > 0) {
        const problem = { code: "kernel-invalid", detail: expect.stringContaining(`needs ${missing.join(" and ")}`) };
        await expect(adapter.benchmark(benchmark, { axes })).rejects.toMatchObject({ problem });
        continue;
      }
      const { correctness, ...measured } = await adapter.benchmark(benchmark, { axes });
      expect(measured).toMatchObject({ kernel: spec.name, variant, shape, dtype: spec.dtypes[0] });
      expect(correctness.correct).toBe(true);
      expect(correctness.checkedElements).toBeGreaterThan(0);
      expect(measured.wallMs.count).toBe(1);
    }
  }

  describe.each(spec.variants)("$name", (variant) => {
    const taken = shapes.filter((shape) => variant.takes?.(shape) ?? true);
    test.each(taken.map((shape) => ({ title: JSON.stringify(shape), shape })))(
      "$title",
      ({ shape }) => checkRun(variant.name, shape, shapeAxes[variant.name]),
      TIMEOUT_MS,
    );

    const settings = variant.axes.flatMap(({ name, values }) => values.map((value) => ({ name, value })));
    test.each(settings)(
      "$name = $value",
      ({ name, value }) => checkRun(variant.name, shapes[0], { [name]: value }),
      TIMEOUT_MS,
    );
  });
}
