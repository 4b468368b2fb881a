import type { Lease } from "../../../src/protocol/link.ts";
import type { Fault } from "../faults/plan-faults.ts";

/** Requests and replies of a client, on its own clock (`performance.now`). */
export interface SentInference {
  readonly sentMs: number;
  readonly budgetMs: number;
  /** The runner that had to answer, by its id; null: any. */
  readonly runnerId: string | null;
  endedMs: number | null;
  /** `ok`, a problem's code, or `lost` where the connection broke. */
  answer: string | null;
  /** Why it was no good one. */
  reason: string | null;
}

export interface AcceptedJob {
  readonly id: string;
  readonly label: string;
  /** True if its cancellation was requested. */
  isCancelled: boolean;
  /** When it was seen to have succeeded. */
  succeededMs: number | null;
}

/** A report: `runId` once the edge has said that it is stored. */
export interface SentReport {
  readonly name: string;
  readonly value: number;
  runId: string | null;
}

export interface SeenOffer {
  readonly runner: string;
  readonly lease: Lease;
  readonly attempt: number;
}

/** A request without any work, which separates delays of machine and client from those of the product. */
export interface Pulse {
  readonly sentMs: number;
  endedMs: number;
  readonly isAnswered: boolean;
}

export type DoneFault = Fault & { readonly beganMs: number; readonly endedMs: number };

/** Everything that was asked, answered and done to the stack in one run. */
export class Ledger {
  /** Runner ids by index of the runner. */
  readonly runnerIds: string[] = [];
  readonly inferences: SentInference[] = [];
  readonly jobs: AcceptedJob[] = [];
  readonly reports: SentReport[] = [];
  readonly offers: SeenOffer[] = [];
  readonly pulses: Pulse[] = [];
  readonly faults: DoneFault[] = [];
  /** Unexpected ends of runners, and processes that outlived theirs. */
  readonly ends: { readonly runner: string; readonly how: string }[] = [];
  readonly orphans: { readonly runner: string; readonly pids: readonly number[] }[] = [];
  /** Submissions of jobs and reports that were sent, again or for the first time. */
  submissions = 0;
  /** Keys that gave two jobs. */
  readonly doubled: string[] = [];
}
