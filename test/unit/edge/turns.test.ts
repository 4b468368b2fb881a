import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { beginUrgent, endTurn } from "../../../src/edge/turns.ts";

/** Whether a turn that ends now has ended after so many milliseconds. */
async function endsWithin(ms: number, meanwhile: () => void = () => {}): Promise<boolean> {
  let isEnded = false;
  const turn = endTurn().then(() => (isEnded = true));
  await vi.advanceTimersByTimeAsync(ms);
  const found = isEnded;
  meanwhile();
  await vi.advanceTimersByTimeAsync(100);
  await turn;
  return found;
}

describe("a turn of long work", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("ends at once where nothing is urgent", async () => {
    expect(await endsWithin(1)).toBe(true);
    beginUrgent()();
    expect(await endsWithin(1)).toBe(true);
  });

  it("waits for urgent requests, but not for long", async () => {
    const [one, other] = [beginUrgent(), beginUrgent()];
    one();
    expect(await endsWithin(15, other)).toBe(false);
    expect(await endsWithin(1)).toBe(true);
    const end = beginUrgent();
    expect(await endsWithin(21, end)).toBe(true);
  });

  it("forgets a request whose end nobody says", async () => {
    beginUrgent();
    expect(await endsWithin(15)).toBe(false);
    await vi.advanceTimersByTimeAsync(250);
    expect(await endsWithin(1)).toBe(true);
  });
});
