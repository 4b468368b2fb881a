import { afterEach, describe, expect, it, vi } from "vitest";
import { untilDeadline } from "../../../src/edge/clock.ts";

afterEach(() => void vi.restoreAllMocks());

const DEADLINE_MS = 600_000;
const isOurs = (call?: readonly unknown[]) => call?.[1] === DEADLINE_MS;

describe("a work with a deadline", () => {
  it("is what it comes to, and leaves no timer behind", async () => {
    const set = vi.spyOn(globalThis, "setTimeout");
    const clear = vi.spyOn(globalThis, "clearTimeout");
    const later = () => scheduler.wait(1);
    expect(
      await untilDeadline(
        DEADLINE_MS,
        later().then(() => 7),
      ),
    ).toBe(7);
    const failing = later().then(() => Promise.reject(new Error("no")));
    await expect(untilDeadline(DEADLINE_MS, failing)).rejects.toThrow("no");
    // Others of this isolate may set shorter ones meanwhile.
    const timers = set.mock.results.map(({ value }) => value as unknown).filter((_, at) => isOurs(set.mock.calls[at]));
    expect(timers).toHaveLength(2);
    const cleared = clear.mock.calls.map(([timer]) => timer as unknown);
    expect(cleared.filter((timer) => timers.includes(timer))).toEqual(timers);
  });

  it("takes no timer where it ends without waiting", async () => {
    const set = vi.spyOn(globalThis, "setTimeout");
    expect(await untilDeadline(DEADLINE_MS, Promise.resolve(7))).toBe(7);
    expect(await untilDeadline(DEADLINE_MS, Promise.resolve(null))).toBeNull();
    expect(await untilDeadline(0, Promise.resolve(8))).toBe(8);
    await expect(untilDeadline(DEADLINE_MS, Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(set.mock.calls.filter(isOurs)).toEqual([]);
  });

  it("is nothing where it takes longer", async () => {
    expect(await untilDeadline(1, new Promise(() => undefined))).toBeNull();
  });
});
