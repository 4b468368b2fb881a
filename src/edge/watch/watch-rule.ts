import type { Finding, HealthReport } from "../../protocol/health.ts";
import type { Expectation } from "./expectation.ts";
import type { MemorySample } from "./memory-sample.ts";

/** What is known of a runner beside the report that is judged. */
export interface WatchContext {
  readonly expectations: readonly Expectation[];
  /** The last reports, rising in time. */
  readonly reports: readonly HealthReport[];
  /** Of the runner's present process, rising in time. */
  readonly memory: readonly MemorySample[];
  /** What was found before. */
  readonly open: readonly OpenFinding[];
}

/** A finding with what it is about. */
export interface OpenFinding {
  readonly key: string;
  readonly finding: Finding;
}

/** A finding opens by the stricter level and is held by the laxer one, so that none flickers about a limit. */
export type WatchLevel = "open" | "hold";

/** What speaks for a finding in one report. `key` tells what it is about: there is one finding of each. */
export interface Evidence extends Omit<Finding, "runnerId" | "since" | "at"> {
  readonly key: string;
}

/** Judges one report. */
export type WatchRule = (report: HealthReport, context: WatchContext, level: WatchLevel) => readonly Evidence[];

/** What a finding of no placement leaves empty. */
export const OF_NO_PLACEMENT = { placementId: null, subject: null, cause: null } as const;
