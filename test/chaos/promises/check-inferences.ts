import type { DoneFault, Ledger, Pulse, SentInference } from "./ledger.ts";

/**
 * Allowance beyond the pulse: a request's own work at the edge and at the client, some garbage collection, and the
 * tenth of a second between pulses.
 */
const SLACK_MS = 500;
/** An answer is late by the way there and by the way back. */
const WAYS = 2;

/**
 * Every inference got an answer by its deadline, but those whose edge was killed under them. As long as the pulse shows
 * that the edge or this process did not run at all, no deadline can be held.
 */
export function checkInferences({ inferences, pulses, faults }: Ledger, slackMs = SLACK_MS): string[] {
  return inferences.flatMap((sent) => {
    const what = `the inference ${Math.round(sent.sentMs)} with a budget of ${sent.budgetMs} ms`;
    if (sent.answer === null || sent.endedMs === null) return [`${what} got no answer`];
    if (sent.answer === "lost") {
      return faults.some((fault) => isDeathOf(fault, sent))
        ? []
        : [`${what} was lost while the edge lived: ${sent.reason}`];
    }
    const allowedMs = sent.budgetMs + slackMs + WAYS * worstPulseMs(pulses, sent);
    const tookMs = sent.endedMs - sent.sentMs;
    return tookMs <= allowedMs
      ? []
      : [`${what} was answered (${sent.answer}) after ${Math.round(tookMs)} ms; allowed were ${Math.round(allowedMs)}`];
  });
}

/** Lateness of an answer, against the bare budget. */
export function latenessMs(sent: SentInference): number {
  return Math.max(0, (sent.endedMs ?? 0) - sent.sentMs - sent.budgetMs);
}

function isDeathOf({ kind, part, beganMs, endedMs }: DoneFault, sent: SentInference): boolean {
  return part === "edge" && kind === "kill" && sent.sentMs <= endedMs && (sent.endedMs ?? 0) >= beganMs;
}

function worstPulseMs(pulses: readonly Pulse[], { sentMs, endedMs }: SentInference): number {
  const meanwhile = pulses.filter((pulse) => pulse.sentMs <= (endedMs ?? 0) && pulse.endedMs >= sentMs);
  return Math.max(0, ...meanwhile.map((pulse) => pulse.endedMs - pulse.sentMs));
}
