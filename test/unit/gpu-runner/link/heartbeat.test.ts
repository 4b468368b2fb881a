import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { LinkChannel, startHeartbeat } from "../../../../src/gpu-runner/link/link-channel.ts";

const PING_MS = 1_000;
const intervals = { pingMs: PING_MS, heartbeatMs: 500, leaseMs: 5_000, resendMs: 500 };

let stoodMs = 0;
beforeEach(() => {
  stoodMs = 0;
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + stoodMs);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it("ends a connection on which nothing came for three pings", () => {
  const onSilent = vi.fn<() => void>();
  const beat = startHeartbeat(new LinkChannel(), intervals, () => [], onSilent);
  vi.advanceTimersByTime(3 * PING_MS);
  expect(onSilent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(PING_MS);
  expect(onSilent).toHaveBeenCalledOnce();
  beat.stop();
});

it("takes no pause of its own process for the edge's silence, and finds it silent a ping later", () => {
  const onSilent = vi.fn<() => void>();
  const beat = startHeartbeat(new LinkChannel(), intervals, () => [], onSilent);
  stoodMs = 10_000;
  vi.advanceTimersByTime(PING_MS);
  expect(onSilent).not.toHaveBeenCalled();
  // What had come meanwhile is read now.
  beat.note();
  vi.advanceTimersByTime(3 * PING_MS);
  expect(onSilent).not.toHaveBeenCalled();
  stoodMs = 20_000;
  vi.advanceTimersByTime(PING_MS);
  expect(onSilent).not.toHaveBeenCalled();
  vi.advanceTimersByTime(PING_MS);
  expect(onSilent).toHaveBeenCalledOnce();
  beat.stop();
});
