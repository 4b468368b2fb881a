import { expect, it } from "vitest";
import { fillInputs } from "../../../../src/gpu-runner/kernels/benchmark/submitted-work.ts";
import { KernelDefinition } from "../../../../src/protocol/kernels/kernel-definition.ts";
import { ownReference } from "../../../edge/stack/kernel-samples.ts";

const LENGTH = 20_000;
const fills = [
  { dtype: "float32", fill: { kind: "uniform", min: 2, max: 4 } },
  { dtype: "int8", fill: { kind: "integers", min: -3, max: 2 } },
  { dtype: "int32", fill: { kind: "constant", value: 9 } },
  { dtype: "float32", fill: { kind: "uniform", min: 2, max: 4 } },
];
const { bindings } = KernelDefinition.parse({
  ...ownReference,
  bindings: fills.map((fill, index) => ({ ...fill, name: `b${index}`, access: "read", extents: [LENGTH] })),
});
const fill = (seed: number) =>
  fillInputs(
    bindings,
    bindings.map(() => [LENGTH]),
    seed,
  );

it("inputs are what the bindings say, and follow from the seed", () => {
  const { b0, b1, b2, b3 } = fill(1) as Record<string, Float32Array>;
  expect(b0).toBeInstanceOf(Float32Array);
  expect(Math.min(...b0!)).toBeGreaterThanOrEqual(2);
  expect(Math.max(...b0!)).toBeLessThan(4);
  expect(b0!.reduce((sum, value) => sum + value, 0) / LENGTH).toBeCloseTo(3, 1);
  expect(new Set(b1)).toEqual(new Set([-3, -2, -1, 0, 1, 2]));
  expect(b2).toEqual(new Int32Array(LENGTH).fill(9));
  expect(b3).not.toEqual(b0);
  expect(fill(1)).toEqual({ b0, b1, b2, b3 });
  expect(fill(2)["b0"]).not.toEqual(b0);
});
