import { expect, test } from "vitest";
import type { SpeedCase } from "../../../src/gpu-runner/device-suite/speed-cases.ts";
import { createRolloutPart } from "../../../src/gpu-runner/device-suite/rollouts.ts";
import { createSpeedPart } from "../../../src/gpu-runner/device-suite/speed.ts";
import { createTorchPart } from "../../../src/gpu-runner/device-suite/torch.ts";
import { usePart } from "./suite-part.ts";

const run = usePart();

/** The same size in every dimension. */
const gemm = (name: string, n: number): SpeedCase => ({
  name,
  kernel: "gemm",
  shape: { m: n, n, k: n },
  halved: [["m", "n", "k"]],
});
const outcomes = (checks: readonly { name: string; outcome: string }[]) =>
  checks.map(({ name, outcome }) => `${name} ${outcome}`);

test("a kernel is measured by default and tuned, under the device's roofs", async () => {
  const tooLarge = { ...gemm("too large", 48), shape: { m: 9_000, n: 1, k: 1 } };
  // Of a resumed suite, the default is measured anew for the ratio and not reported twice.
  const checks = await run(createSpeedPart([gemm("small", 48), tooLarge]), ["small default", "roof triad"]);
  expect(outcomes(checks)).toEqual([
    "roof float32 passed",
    // The software GPU has no such type.
    "roof float16 skipped",
    "roof int8 passed",
    "roof copy passed",
    "roof read passed",
    "small tuned passed",
    "too large default failed",
    "too large tuned failed",
  ]);
  const [float32, , , copy, , tuned, wrong] = checks;
  expect(float32?.figures).toMatchObject({ gflops: expect.any(Number), variant: expect.any(String) });
  expect(copy?.figures).toMatchObject({ gigabytesPerSecond: expect.any(Number) });
  expect(tuned?.figures).toMatchObject({ shape: "m=48 n=48 k=48", checkedElements: 48 * 48, runs: 100 });
  for (const name of ["p50Ms", "gflops", "gigabytesPerSecond", "shareOfRoof", "tunedOverDefault", "triedCandidates"]) {
    expect(tuned?.figures?.[name]).toBeGreaterThan(0);
  }
  expect(wrong?.reason).toContain("invalid-request");
});

test("a size beyond a slow device is halved until it is another's", async () => {
  const checks = await run(createSpeedPart([gemm("huge", 8192), gemm("half", 4096)]), [
    ...["float32", "float16", "int8", "triad", "copy", "read"].map((roof) => `roof ${roof}`),
    "huge default",
    "half tuned",
  ]);
  expect(outcomes(checks)).toEqual(["huge tuned passed", "half default skipped"]);
  expect(checks[1]?.reason).toContain("it is huge");
});

test("a population is rolled out on both processors", async () => {
  const checks = await run(createRolloutPart([{ environment: "cartpole", members: 64 }]));
  expect(outcomes(checks)).toEqual(["cartpole 64 cpu-simd passed", "cartpole 64 wgsl passed"]);
  expect(checks[1]?.figures).toMatchObject({ stepsPerSecond: expect.any(Number), gpuOverCpu: expect.any(Number) });
});

test("without Python there is nothing to compare with, and a program that fails is reported", async () => {
  const cases = [gemm("small", 48)];
  const [missing, ...none] = await run(createTorchPart({ cases, python: "/nowhere/python3" }));
  expect(missing).toMatchObject({ outcome: "skipped", reason: expect.stringContaining("no Python") });
  expect(none).toEqual([]);
  expect(
    await run(createTorchPart({ cases, python: "/nowhere/python3", device: "cpu" }), ["small fp32", "PyTorch"]),
  ).toEqual([]);
  // Node cannot run it.
  const [failed] = await run(createTorchPart({ cases, python: process.execPath }));
  expect(failed).toMatchObject({ outcome: "failed", reason: expect.stringContaining("after 0 rows") });
});
