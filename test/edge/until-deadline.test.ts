import { afterEach, describe, expect, it, vi } from "vitest";
import { untilDeadline } from "../../src/edge/routes/until-deadline.ts";

afterEach(() => void vi.restoreAllMocks());

describe("a work with a deadline", () => {
  it("is what it comes to, and leaves no timer behind", async () => {
    const wait = vi.spyOn(scheduler, "wait");
    expect(await untilDeadline(600_000, Promise.resolve(7))).toBe(7);
    await expect(untilDeadline(600_000, Promise.reject(new Error("no")))).rejects.toThrow("no");
    for (const { value } of wait.mock.results) await expect(value).rejects.toMatchObject({ name: "AbortError" });
    expect(wait).toHaveBeenCalledTimes(2);
  });

  it("is nothing where it takes longer", async () => {
    expect(await untilDeadline(1, new Promise(() => undefined))).toBeNull();
  });
});
