import { describe, expect, it } from "vitest";
import type { AxisValues } from "../../../../kernels/kernel-spec.ts";
import { KERNELS } from "../../../../kernels/registry.ts";
import { coverAxes } from "../../../../src/gpu-runner/device-suite/kernels.ts";

const axis = (name: string, values: readonly number[], standard: number) => ({ name, values, default: standard });

describe("settings of a variant", () => {
  const axes = [axis("x", [1, 2, 4], 2), axis("y", [8, 16], 16)];

  it("begin with the defaults, and share a setting among axes", () => {
    expect(coverAxes({ axes }, () => true)).toEqual([
      { x: 2, y: 16 },
      { x: 1, y: 8 },
      { x: 4, y: 16 },
    ]);
  });

  it("are apart where they do not fit together", () => {
    expect(coverAxes({ axes }, ({ x = 0, y = 0 }) => x + y !== 9)).toEqual([
      { x: 2, y: 16 },
      { x: 1, y: 16 },
      { x: 2, y: 8 },
      { x: 4, y: 16 },
    ]);
  });

  it.each([...KERNELS.values()])("have every value of every axis of $name", ({ variants }) => {
    for (const variant of variants) {
      for (const fits of [() => true, () => false]) {
        const settings: AxisValues[] = coverAxes(variant, fits);
        for (const { name, values, default: standard } of variant.axes) {
          expect(new Set(settings.map((each) => each[name]))).toEqual(new Set(values));
          expect(settings[0]).toMatchObject({ [name]: standard });
        }
        expect(new Set(settings.map((each) => JSON.stringify(each))).size).toBe(settings.length);
      }
    }
  });
});
