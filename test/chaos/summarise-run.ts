import { nearestRank } from "../../src/stats/distribution/summary.ts";
import { latenessMs } from "./promises/check-inferences.ts";
import type { DoneFault, Ledger } from "./promises/ledger.ts";

/** Times in milliseconds; null where there is none. */
export interface Times {
  readonly count: number;
  readonly median: number | null;
  readonly p95: number | null;
  readonly max: number | null;
}

/** Recovery from one kind of fault: time after its end until its part gave a good answer again, and a job was done. */
export interface FaultSummary {
  readonly part: "edge" | "runner";
  readonly kind: string;
  readonly injected: number;
  readonly answersAgain: Times;
  readonly jobsAgain: Times;
}

/** The figures of one run or of several. */
export interface RunSummary {
  readonly faults: readonly FaultSummary[];
  readonly jobs: { readonly accepted: number; readonly seenToSucceed: number; readonly offers: number };
  readonly reports: { readonly sent: number; readonly acknowledged: number };
  readonly inferences: { readonly sent: number; readonly byAnswer: Readonly<Record<string, number>> };
  /** Lateness of answers, against the bare budget: machine, client and stopped edges included. */
  readonly lateness: Times;
  readonly pulse: Times;
  /** Unexpected ends of runners. */
  readonly unaskedEnds: number;
}

/** Puts the figures of runs together, each run by its own clock. */
export function summariseRuns(ledgers: readonly Ledger[]): RunSummary {
  const all = <Item>(of: (ledger: Ledger) => readonly Item[]) => ledgers.flatMap(of);
  const inferences = all((ledger) => ledger.inferences);
  const jobs = all((ledger) => ledger.jobs);
  const reports = all((ledger) => ledger.reports);
  const answered = inferences.filter(({ answer }) => answer !== null && answer !== "lost");
  return {
    faults: summariseFaults(ledgers),
    jobs: {
      accepted: jobs.length,
      seenToSucceed: jobs.filter(({ succeededMs }) => succeededMs !== null).length,
      offers: all(({ offers }) => offers).length,
    },
    reports: { sent: reports.length, acknowledged: reports.filter(({ runId }) => runId !== null).length },
    inferences: { sent: inferences.length, byAnswer: countBy(inferences.map(({ answer }) => answer ?? "none")) },
    lateness: timesOf(answered.map(latenessMs)),
    pulse: timesOf(all(({ pulses }) => pulses.map(({ sentMs, endedMs }) => endedMs - sentMs))),
    unaskedEnds: all(({ ends }) => ends).length,
  };
}

function summariseFaults(ledgers: readonly Ledger[]): FaultSummary[] {
  const recoveries = ledgers.flatMap((ledger) =>
    ledger.faults.map((fault) => ({
      kind: fault.kind,
      part: fault.part === "edge" ? ("edge" as const) : ("runner" as const),
      answerMs: answerAfter(ledger, fault),
      jobMs: jobAfter(ledger, fault),
    })),
  );
  return [...Map.groupBy(recoveries, ({ part, kind }) => `${part} ${kind}`)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, own]) => ({
      part: own[0]!.part,
      kind: own[0]!.kind,
      injected: own.length,
      answersAgain: timesOf(own.flatMap(({ answerMs }) => answerMs ?? [])),
      jobsAgain: timesOf(own.flatMap(({ jobMs }) => jobMs ?? [])),
    }));
}

/**
 * Time to the first good answer to a request that was sent after the fault: of that runner, or of the edge by any
 * runner.
 */
function answerAfter({ inferences, runnerIds }: Ledger, { part, endedMs }: DoneFault): number | null {
  const wanted = part === "edge" ? null : runnerIds[part];
  const first = inferences
    .filter((sent) => sent.answer === "ok" && sent.sentMs >= endedMs && (wanted === null || sent.runnerId === wanted))
    .map((sent) => sent.endedMs ?? Number.POSITIVE_INFINITY);
  return first.length === 0 ? null : Math.min(...first) - endedMs;
}

/** Time to the first job that was seen to have succeeded. */
function jobAfter({ jobs }: Ledger, { endedMs }: DoneFault): number | null {
  const done = jobs.flatMap(({ succeededMs }) => (succeededMs !== null && succeededMs >= endedMs ? [succeededMs] : []));
  return done.length === 0 ? null : Math.min(...done) - endedMs;
}

function timesOf(times: readonly number[]): Times {
  const sorted = Float64Array.from(times, Math.round).toSorted();
  const rank = (share: number) => (sorted.length === 0 ? null : nearestRank(sorted, share));
  return { count: sorted.length, median: rank(0.5), p95: rank(0.95), max: rank(1) };
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
