import { afterEach, describe, expect, it, vi } from "vitest";
import { untilDeadline } from "../../../src/edge/clock.ts";

afterEach(() => void vi.restoreAllMocks());

describe("a work with a deadline", () => {
  it("is what it comes to, and leaves no timer behind", async () => {
    const set = vi.spyOn(globalThis, "setTimeout");
    const clear = vi.spyOn(globalThis, "clearTimeout");
    expect(await untilDeadline(600_000, Promise.resolve(7))).toBe(7);
    await expect(untilDeadline(600_000, Promise.reject(new Error("no")))).rejects.toThrow("no");
    const timers = set.mock.results.map(({ value }) => value as unknown);
    expect(timers).toHaveLength(2);
    expect(clear.mock.calls.map(([timer]) => timer)).toEqual(timers);
  });

  it("is nothing where it takes longer", async () => {
    expect(await untilDeadline(1, new Promise(() => undefined))).toBeNull();
  });
});
