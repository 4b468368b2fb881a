import { setTimeout as delay } from "node:timers/promises";
import { CONTROL_PATH } from "./faulty/fault-control.ts";
import type { Ledger } from "./promises/ledger.ts";

const PERIOD_MS = 100;

/**
 * Asks the edge for nothing again and again, past the product: how long that takes is how long machine, client and a
 * stopped edge hold any answer up.
 */
export async function feelPulse(edgeUrl: string, ledger: Ledger, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const sentMs = performance.now();
    // Recorded at once, with an open end: requests may be judged before this one ends.
    const pulse = { sentMs, endedMs: Number.POSITIVE_INFINITY, isAnswered: false };
    ledger.pulses.push(pulse);
    pulse.isAnswered = await fetch(`${edgeUrl}${CONTROL_PATH}`, { headers: { connection: "close" } }).then(
      ({ ok }) => ok,
      () => false,
    );
    pulse.endedMs = performance.now();
    await delay(Math.max(0, sentMs + PERIOD_MS - performance.now()), undefined, { signal }).catch(() => undefined);
  }
}
