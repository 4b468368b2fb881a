import { describe, expect, it } from "vitest";
import { checkInferences } from "../../chaos/promises/check-inferences.ts";
import { Ledger, type SentInference } from "../../chaos/promises/ledger.ts";

const sent: SentInference = {
  sentMs: 10_000,
  budgetMs: 300,
  runnerId: null,
  endedMs: 10_200,
  answer: "ok",
  reason: null,
};

function judge(changes: Partial<SentInference>, pulseMs = 10, killedAtMs: number | null = null): string[] {
  const ledger = new Ledger();
  ledger.inferences.push({ ...sent, ...changes });
  ledger.pulses.push({ sentMs: 10_100, endedMs: 10_100 + pulseMs, isAnswered: true });
  const death = { kind: "kill", part: "edge", atMs: 0, durationMs: 0, severity: 0 } as const;
  if (killedAtMs !== null) ledger.faults.push({ ...death, beganMs: killedAtMs, endedMs: killedAtMs + 1_000 });
  return checkInferences(ledger);
}

describe("an inference", () => {
  it("is in order with any answer by its deadline", () => {
    expect(judge({})).toEqual([]);
    expect(judge({ answer: "overloaded" })).toEqual([]);
  });

  it("is late beyond its budget, but for what the pulse explains", () => {
    expect(judge({ endedMs: 11_500 })).toEqual([expect.stringContaining("was answered (ok) after 1500 ms")]);
    expect(judge({ endedMs: 11_500 }, 400)).toEqual([]);
  });

  it("may be lost with its edge, and not otherwise", () => {
    expect(judge({ answer: "lost", reason: "closed" })).toEqual([
      expect.stringContaining("lost while the edge lived: closed"),
    ]);
    expect(judge({ answer: "lost" }, 10, 10_100)).toEqual([]);
    expect(judge({ answer: "lost" }, 10, 12_000)).not.toEqual([]);
  });

  it("must be answered", () => {
    expect(judge({ answer: null })).toEqual([expect.stringContaining("got no answer")]);
  });
});
