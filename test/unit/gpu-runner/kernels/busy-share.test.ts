import { expect, test } from "vitest";
import { busyShare } from "../../../../src/gpu-runner/kernels/throughput/staging-ring.ts";

const span = (startNs: number, endNs: number) => ({ startNs, endNs });

test("counts what spans cover once, however they overlap", () => {
  expect(busyShare([span(0, 40), span(20, 50), span(30, 45), span(80, 90)], 0, 100)).toBe(0.6);
});

test("counts only what lies in the window", () => {
  expect(busyShare([span(-50, 10), span(90, 300)], 0, 100)).toBe(0.2);
  expect(busyShare([span(-50, 500)], 0, 100)).toBe(1);
  expect(busyShare([span(200, 300)], 0, 100)).toBe(0);
});

test("an empty window is not busy", () => {
  expect(busyShare([span(0, 1)], 5, 5)).toBe(0);
  expect(busyShare([], 0, 100)).toBe(0);
});
