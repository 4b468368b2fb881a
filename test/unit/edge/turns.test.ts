import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endShortTurn, endTurn, takesShortTurns, threadShares } from "../../../src/edge/turns.ts";

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
    threadShares.beginUrgent()();
    expect(await endsWithin(1)).toBe(true);
  });

  it("waits for urgent requests, but not for long", async () => {
    const [one, other] = [threadShares.beginUrgent(), threadShares.beginUrgent()];
    one();
    expect(await endsWithin(15, other)).toBe(false);
    expect(await endsWithin(1)).toBe(true);
    const end = threadShares.beginUrgent();
    expect(await endsWithin(21, end)).toBe(true);
  });

  it("does not wait for the request whose work it is", async () => {
    const request = {};
    const end = threadShares.beginUrgent(request);
    let isEnded = false;
    const turn = endTurn(request).then(() => (isEnded = true));
    await vi.advanceTimersByTimeAsync(1);
    expect(isEnded).toBe(true);
    end();
    await turn;
  });

  it("is short while urgent requests come, and eight times as long a second later", async () => {
    const countYields = async () => {
      let yields = 0;
      for (let call = 0; call < 16; call++) {
        let isEnded = false;
        const turn = endShortTurn().then(() => (isEnded = true));
        await Promise.resolve();
        await Promise.resolve();
        if (!isEnded) yields++;
        await vi.advanceTimersByTimeAsync(1);
        await turn;
      }
      return yields;
    };
    threadShares.beginUrgent()();
    expect(takesShortTurns()).toBe(true);
    expect(await countYields()).toBe(16);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(takesShortTurns()).toBe(false);
    expect(await countYields()).toBe(2);
  });

  it("forgets a request whose end nobody says", async () => {
    threadShares.beginUrgent();
    expect(await endsWithin(15)).toBe(false);
    await vi.advanceTimersByTimeAsync(250);
    expect(await endsWithin(1)).toBe(true);
  });
});
