import { type Baseline, drain } from "./measure-baseline.ts";
import type { Seen } from "./judgement.ts";
import type { Sender } from "./sender.ts";
import type { Target } from "./target.ts";

/** The load of expiry and refusal. */
export interface Overload {
  readonly seen: readonly Seen[];
  readonly durationMs: number;
}

/** A run of the suite: the server as measured, and how it is judged. Loads are derived from these. */
export interface Suite {
  readonly target: Target;
  readonly sender: Sender;
  readonly baseline: Baseline;
  readonly deadlineMs: number;
  readonly toleranceMs: number;
  readonly lateShare: number;
  readonly rounds: number;
  readonly overloadMs: number;
  readonly seed: number;
  /** Says what happens now. */
  readonly say: (what: string) => void;
  /** The load of expiry and refusal, which is put once; text: why it tells nothing. */
  overload?: Promise<Overload | string>;
}

export const NO_CARRIER = "No deadline reaches the server (--deadline none), so there is none to keep.";
export const NOT_CALM =
  "The server was not as fast as at first within a minute, so its state before the load is unknown.";
export const CUT = "Too many requests were open (--max-open), so the load was cut short.";

/** How long after the deadline of the last request ends are waited for, at least. */
const GRACE_MS = 2_000;

/** Deadline and horizon of requests that have to be in time. */
export function hurry({ deadlineMs }: Suite) {
  return { deadlineMs, horizonMs: deadlineMs + Math.max(GRACE_MS, deadlineMs) };
}

/** Waits until the server is as fast as at first. */
export function calm({ sender, baseline, toleranceMs }: Suite): Promise<boolean> {
  return drain(sender, baseline, toleranceMs);
}
