import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { OutcomeReport } from "../../../../src/gpu-runner/link/outcome-report.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import type { RunnerMessage } from "../../../../src/protocol/link.ts";
import type { DirectOutcome } from "../../../../src/protocol/inference/ticket.ts";

type Report = Extract<RunnerMessage, { type: "directOutcomes" }>;

const outcome = (totalMs: number): DirectOutcome => ({ placementId: "plc_1", rows: 1, totalMs, times: null });

/** A link that a test opens and closes. */
function createChannel() {
  const sent: number[][] = [];
  const channel = {
    isOpen: true,
    send: (message: RunnerMessage) => {
      if (channel.isOpen) sent.push((message as Report).outcomes.map(({ totalMs }) => totalMs));
      return channel.isOpen;
    },
  };
  return { channel, sent };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("sends outcomes together, a moment after the first", () => {
  const { channel, sent } = createChannel();
  const report = new OutcomeReport(channel);
  report.add(outcome(1));
  vi.advanceTimersByTime(999);
  report.add(outcome(2));
  expect(sent).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(sent).toEqual([[1, 2]]);
  report.add(outcome(3));
  report.stop();
  expect(sent).toEqual([[1, 2], [3]]);
});

it("puts as many into one message as the protocol takes", () => {
  const { channel, sent } = createChannel();
  const report = new OutcomeReport(channel);
  for (let i = 0; i < LIMITS.directOutcomes + 1; i++) report.add(outcome(i));
  vi.advanceTimersByTime(1_000);
  expect(sent.map(({ length }) => length)).toEqual([LIMITS.directOutcomes, 1]);
});

it("keeps the newest while there is no link", () => {
  const { channel, sent } = createChannel();
  channel.isOpen = false;
  const report = new OutcomeReport(channel);
  for (let i = 0; i <= LIMITS.directOutcomesKept; i++) report.add(outcome(i));
  vi.advanceTimersByTime(5_000);
  channel.isOpen = true;
  vi.advanceTimersByTime(1_000);
  const all = sent.flat();
  expect([all.length, all[0], all.at(-1)]).toEqual([LIMITS.directOutcomesKept, 1, LIMITS.directOutcomesKept]);
});
