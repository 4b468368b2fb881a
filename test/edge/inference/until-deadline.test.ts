import { afterEach, describe, expect, it, vi } from "vitest";
import { untilDeadline } from "../../../src/edge/clock.ts";

afterEach(() => void vi.restoreAllMocks());

describe("a work with a deadline", () => {
  it("is what it comes to, and leaves no timer behind", async () => {
    const set = vi.spyOn(globalThis, "setTimeout");
    const clear = vi.spyOn(globalThis, "clearTimeout");
    const later = () => scheduler.wait(1);
    expect(
      await untilDeadline(
        600_000,
        later().then(() => 7),
      ),
    ).toBe(7);
    const failing = later().then(() => Promise.reject(new Error("no")));
    await expect(untilDeadline(600_000, failing)).rejects.toThrow("no");
    const timers = set.mock.results.map(({ value }) => value as unknown);
    expect(timers).toHaveLength(2);
    expect(clear.mock.calls.map(([timer]) => timer)).toEqual(timers);
  });

  it("takes no timer where it ends without waiting", async () => {
    const set = vi.spyOn(globalThis, "setTimeout");
    expect(await untilDeadline(600_000, Promise.resolve(7))).toBe(7);
    expect(await untilDeadline(0, Promise.resolve(null))).toBeNull();
    await expect(untilDeadline(600_000, Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(set).not.toHaveBeenCalled();
  });

  it("is nothing where it takes longer", async () => {
    expect(await untilDeadline(1, new Promise(() => undefined))).toBeNull();
  });
});
