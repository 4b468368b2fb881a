import { expect, test } from "vitest";
import type { KernelSpec, KernelVariant } from "../../kernels/kernel-spec.ts";
import { KERNELS } from "../../kernels/registry.ts";
import { resolveBenchmark } from "../../src/gpu-runner/kernels/dispatch/resolve-benchmark.ts";
import { suitDevice } from "../../src/gpu-runner/kernels/dispatch/suit-device.ts";
import { ProblemError } from "../../src/protocol/wire/problem.ts";

function problemOf(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (error instanceof ProblemError) return error.problem;
    throw error;
  }
  throw new Error("nothing was thrown");
}

const request = { kernel: "gemm", shape: {} } as const;

test("fills in sizes, variant and axes", () => {
  const { shape, variant, axes } = resolveBenchmark(KERNELS, { ...request, shape: { m: 3 } });
  expect(shape).toEqual({ m: 3, n: 512, k: 512 });
  expect(variant.name).toBe("register-tiled");
  expect(axes).toEqual({ lanesN: 8, lanesM: 1 });
});

test("asks the kernel which variant it prefers for a shape", () => {
  const mlp = { kernel: "mlp", dtype: "float32" } as const;
  expect(resolveBenchmark(KERNELS, { ...mlp, shape: { batch: 1 } }).variant.name).toBe("one-sample");
  expect(resolveBenchmark(KERNELS, { ...mlp, shape: { batch: 64 } }).variant.name).toBe("four-samples");
});

test("an unknown kernel is named, with what there is", () => {
  const problem = problemOf(() => resolveBenchmark(KERNELS, { ...request, kernel: "gemmm" }));
  expect(problem).toMatchObject({ code: "unknown-kernel", errors: [{ pointer: "#/kernel" }] });
  expect(problem.errors?.[0]?.message).toContain("gemm, triad, reduce, mlp");
});

test("everything that is wrong is named at once", () => {
  const wrong = { kernel: "gemm", shape: { m: 0, n: 8193, k: 1.5, rows: 2 }, dtype: "int8", variant: "fast" } as const;
  const problem = problemOf(() => resolveBenchmark(KERNELS, wrong));
  expect(problem.code).toBe("invalid-request");
  expect(problem.errors?.map(({ pointer }) => pointer)).toEqual([
    "#/shape/rows",
    "#/shape/m",
    "#/shape/n",
    "#/shape/k",
    "#/dtype",
    "#/variant",
  ]);
});

test("an axis takes its listed values only", () => {
  const problem = problemOf(() => resolveBenchmark(KERNELS, request, { lanesN: 5 }));
  expect(problem).toMatchObject({ code: "invalid-request", errors: [{ pointer: "#/axes/lanesN" }] });
});

test("a variant that does not take the shape is not to be had", () => {
  const gemm = KERNELS.get("gemm")!;
  const [first, second] = gemm.variants as readonly [KernelVariant, KernelVariant];
  const kernel: KernelSpec = { ...gemm, variants: [{ ...first, takes: ({ m }) => m === 64 }, second] };
  const kernels = new Map([["gemm", kernel]]);
  expect(resolveBenchmark(kernels, { ...request, shape: { m: 64 } }).variant.name).toBe(first.name);
  expect(resolveBenchmark(kernels, { ...request, shape: { m: 65 } }).variant.name).toBe(second.name);
  const problem = problemOf(() => resolveBenchmark(kernels, { ...request, shape: { m: 65 }, variant: first.name }));
  expect(problem).toMatchObject({ code: "invalid-request", errors: [{ pointer: "#/variant" }] });
});

test("a device that is no emulation has defaults of its own, whose axes can be compiled", () => {
  const real = suitDevice(KERNELS, { software: false });
  const choose = (kernels: typeof KERNELS) => {
    const { variant, axes } = resolveBenchmark(kernels, { kernel: "softmax", shape: {} });
    return [variant.name, axes];
  };
  expect(choose(suitDevice(KERNELS, { software: true }))).toEqual(["row-per-lane", { lanes: 8 }]);
  expect(choose(real)).toEqual(["row-per-group", { lanes: 256 }]);
  const suited = [...KERNELS.values()].filter(({ onRealGpu }) => onRealGpu !== undefined);
  expect(suited.length).toBeGreaterThan(0);
  for (const { name, onRealGpu } of suited) {
    const { variant, axes } = resolveBenchmark(real, { kernel: name, shape: {} }, onRealGpu!.axes);
    expect({ variant: variant.name, axes }).toEqual(onRealGpu);
  }
});
