import { expect, test } from "vitest";
import { triad } from "../../../../kernels/triad/triad.kernel.ts";
import type { KernelSpec } from "../../../../kernels/kernel-spec.ts";
import { occupyKernel } from "../../../../src/gpu-runner/kernels/benchmark/predict-occupancy.ts";

const description = {
  software: false,
  fingerprint: { adapter: "nvidia  nvidia-h100-80gb-hbm3", driver: null, dawn: null, toggles: [], ort: null, cpu: "" },
};

/** A kernel with a small pass and one with so large a workgroup that it has the most lanes. */
function occupy(size: string) {
  const code = `@compute @workgroup_size(32) fn first() {} @compute @workgroup_size(${size}) fn second() {}`;
  const passes = ["first", "second"].map((entryPoint) => ({ entryPoint, workgroups: () => [8, 1, 1] as const }));
  const kernel = triad as KernelSpec;
  const variant = { ...kernel.variants[0], code, passes } as unknown as KernelSpec["variants"][0];
  return occupyKernel(description, { kernel, variant, shape: { n: 64 }, axes: { lanes: 64 } });
}

test("is reported for the pass with the most lanes", async () => {
  expect(await occupy("128")).toMatchObject({ waves: 64 });
});

test("is not reported where any pass cannot be read, which might be that one", async () => {
  expect(await occupy("max(128, 1)")).toBeNull();
});
