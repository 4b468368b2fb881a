import { describe, expect, test } from "vitest";
import type { KernelReference, Tolerance } from "../../kernels/kernel-spec.ts";
import { checkOutput, checkOutputs } from "../../src/gpu-runner/kernels/benchmark/check-output.ts";
import { ProblemError } from "../../src/protocol/wire/problem.ts";

const tolerance: Tolerance = { relative: 0.125, absolute: () => 0.5, reason: "made up" };

function reference(values: readonly number[], elementFlops = 1): KernelReference {
  return { output: "c", length: values.length, elementFlops, element: (index) => values[index] ?? Number.NaN };
}

function check(output: number[], expected: readonly number[], elementFlops = 1) {
  return checkOutput(Float32Array.from(output), reference(expected, elementFlops), tolerance, {}, 1, () => {});
}

describe("checkOutput", () => {
  test("allows absolute + relative · |reference| and says how far off it was", async () => {
    const checked = await check([9.5, -8, 0], [8, -8, 0]);
    expect(checked).toMatchObject({ correct: true, checkedElements: 3, maxAbsoluteError: 1.5 });
    expect(checked.maxRelativeError).toBe(1.5 / 8);
    expect(checked.tolerance).toBe("|error| ≤ 0.500 + 0.125·|reference|: made up");
  });

  test.each([
    ["too large", [9.75, 1]],
    ["too small", [6.25, 1]],
    ["NaN", [8, Number.NaN]],
    ["infinite", [8, Number.POSITIVE_INFINITY]],
    ["too short", [8]],
  ])("refuses what is %s", async (_, output) => {
    const failure = await check(output, [8, 1]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ProblemError);
    expect((failure as ProblemError).problem.code).toBe("kernel-incorrect");
  });

  test("takes the relative error near zero against the size of the whole output", async () => {
    const { maxRelativeError } = await check([100, 0.1], [100, 0]);
    expect(maxRelativeError).toBeCloseTo(0.1 / Math.hypot(100 / Math.SQRT2, 0), 6);
  });

  test("checks a sample with the first and last element where the reference is dear", async () => {
    const values = Array.from({ length: 1000 }, (_, index) => index);
    const { checkedElements } = await check(values, values, 3e6);
    expect(checkedElements).toBeLessThan(1000);
    expect(checkedElements).toBeGreaterThanOrEqual(16);
    await expect(check([...values.slice(0, -1), 0], values, 3e6)).rejects.toThrow("'c'[999]");
  });
});

describe("checkOutputs", () => {
  const checkBoth = (first: number[], second: number[]) =>
    checkOutputs(
      [Float32Array.from(first), Int32Array.from(second)],
      [reference([8, -8]), { ...reference([100]), output: "count" }],
      tolerance,
      {},
      1,
      () => {},
    );

  test("counts the elements of all outputs and reports the largest error", async () => {
    expect(await checkBoth([9, -8], [110])).toMatchObject({ checkedElements: 3, maxAbsoluteError: 10 });
  });

  test("refuses when any one is wrong, and names it", async () => {
    await expect(checkBoth([9, -8], [120])).rejects.toThrow("'count'[0] is 120, the reference says 100");
    await expect(checkBoth([12, -8], [100])).rejects.toThrow("'c'[0]");
  });
});
