import { fail, ok, skip, type Verdict, warn } from "./finding.ts";
import type { Patient } from "./patient.ts";
import { reachEdge } from "./reach-edge.ts";

/** Beyond this, what is reported with times of this machine stands in the wrong place of the history. */
const WARN_MS = 2_000;
const FAIL_MS = 30_000;
const ADVICE = "Set this machine's clock by NTP: `timedatectl set-ntp true`, or chrony.";

/** This machine's clock against the edge's. */
export async function checkClock({ edgeUrl, fetch }: Pick<Patient, "edgeUrl" | "fetch">): Promise<Verdict> {
  const reached = await reachEdge(edgeUrl, fetch);
  if (reached.kind !== "edge") return skip("the edge does not answer");
  if (reached.aheadMs === null) return skip("the edge sends no date");
  return judgeClock(reached.aheadMs, reached.withinMs);
}

/** `aheadMs` is known to `withinMs`, which is in this machine's favour. */
export function judgeClock(aheadMs: number, withinMs: number): Verdict {
  const certainMs = Math.max(0, Math.abs(aheadMs) - withinMs);
  if (certainMs < WARN_MS) return ok(`agrees with the edge's within ${(withinMs / 1e3 + WARN_MS / 1e3).toFixed(1)} s`);
  const found = `${(Math.abs(aheadMs) / 1e3).toFixed(0)} s ${aheadMs > 0 ? "behind" : "ahead of"} the edge's`;
  return certainMs < FAIL_MS ? warn(found, ADVICE) : fail(found, ADVICE);
}
