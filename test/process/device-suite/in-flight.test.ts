import { expect, test } from "vitest";
import { createInFlightPart } from "../../../src/gpu-runner/device-suite/in-flight.ts";
import { usePart } from "./suite-part.ts";

const run = usePart();

test("a kernel and a network are asked several times at once", { timeout: 600_000 }, async () => {
  const checks = await run(createInFlightPart(["cartpole", "nowhere"], [1, 2]), ["gemm wgsl 1 in flight"]);
  expect(checks.map(({ name, outcome }) => `${name}: ${outcome}`)).toEqual([
    "gemm wgsl 2 in flight: passed",
    "cartpole wgsl 1 in flight: passed",
    "cartpole wgsl 2 in flight: passed",
    "nowhere wgsl 1 in flight: failed",
    "nowhere wgsl 2 in flight: failed",
    // Not on a software GPU.
    "cartpole ort-webgpu 1 in flight: skipped",
    "cartpole ort-webgpu 2 in flight: skipped",
    "nowhere ort-webgpu 1 in flight: skipped",
    "nowhere ort-webgpu 2 in flight: skipped",
  ]);
  expect(checks.at(-1)?.reason).toBe("ONNX Runtime serves no emulated GPU unless it is told to");
  expect(checks[0]?.figures).toMatchObject({ busyShare: expect.any(Number), clock: "gpu-timestamp" });
  expect(checks[1]?.figures).toMatchObject({ overOneInFlight: 1, requests: expect.any(Number), agreement: 1e-3 });
  expect(checks[2]?.figures?.["requestsPerSecond"]).toBeGreaterThan(0);
});
