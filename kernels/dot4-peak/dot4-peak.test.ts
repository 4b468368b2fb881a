import { describe, expect, test } from "vitest";
import { testKernel } from "../../test/kernels/test-kernel.ts";
import { dot4Peak } from "./dot4-peak.kernel.ts";

test("every byte of the inputs takes part", () => {
  const { weights, x } = dot4Peak.generate({ n: 999, rounds: 1 }, 1) as { weights: Int32Array; x: Int32Array };
  expect(x.reduce((some, word) => some | word, 0)).toBe(-1);
  expect([...new Uint8Array(weights.buffer)]).not.toContain(0);
});

testKernel(dot4Peak, [
  { n: 1027, rounds: 3 },
  { n: 1, rounds: 1 },
  { n: 2048, rounds: 64 },
  { n: 65_537, rounds: 2 },
  { n: 3, rounds: 4096 },
]);

// A software device takes seconds for it, and only here does a grid reach the limit.
describe("as many groups as one dimension takes", () => {
  const [, oneVector] = dot4Peak.variants;
  testKernel({ ...dot4Peak, variants: [{ ...oneVector, axes: [] }] }, [{ n: 65_535 * 32 * 4, rounds: 1 }], {
    "one-vector": { lanes: 32 },
  });
});
