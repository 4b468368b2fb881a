import { expect, test } from "vitest";
import { checkAgainstReference } from "../../../bench/check-against-reference.ts";
import { contender as cpuSimd } from "../../../bench/population/cpu-simd.ts";
import type { PopulationCase } from "../../../bench/population/population-case.ts";
import { contender as typedArrays } from "../../../bench/population/typed-arrays.ts";

const input: PopulationCase = {
  kernel: "mlp-population",
  shape: { members: 9, samples: 2, inputs: 7, hidden: 19, outputs: 3, layers: 3, activation: 3 },
  mode: "round-trip",
};

test.each([
  ["typed-arrays", typedArrays],
  ["cpu-simd", cpuSimd],
])("%s computes the population and reports forward passes a second", async (_, contender) => {
  const entry = await contender(input);
  try {
    await expect(checkAgainstReference(input, entry.opened.output)).resolves.toBeUndefined();
    const { forwards } = await entry.measure();
    expect(forwards).toBeGreaterThan(0);
  } finally {
    await entry.close();
  }
});
