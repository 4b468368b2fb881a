import type { QuotaName } from "../../../protocol/service/quota.ts";

const GiB = 2 ** 30;

/**
 * What each project may have where the operator set nothing else. A D1 database holds 10 GB
 * (https://developers.cloudflare.com/d1/platform/limits/).
 */
export const DEFAULT_QUOTAS: Readonly<Record<QuotaName, number>> = {
  /** A snapshot that admits requests has all versions, at about 2 KB: 20 MB of an isolate's 128. */
  models: 2_000,
  versions: 10_000,
  /** A dollar a month of R2, and what a machine that keeps the bucket on its disk has room for. */
  storedBytes: 64 * GiB,
  /** Files that no model names yet, each open for a day: two models of the most files. */
  uploads: 512,
  /** Each has a file of up to 96 MiB, so bytes end first. */
  populations: 1_000,
  /** A training leaves one. */
  archives: 10_000,
  /** Each is searched or evolved by people at work, who keep an eye on them. */
  itemMemories: 256,
  agentPools: 256,
  /** A row of some 1 KB with its indexes: a fiftieth of the database. */
  series: 200_000,
  /** A report has a row of 0.3 KB, a job's run one of 2 to 10: up to a fifth of the database. */
  runs: 500_000,
  /** Rows of 0.25 KB: a quarter of the database, and a twentieth for one day's. */
  points: 10_000_000,
  pointsADay: 2_000_000,
  /** Each new point is judged by all that select its series. */
  thresholds: 500,
  requirementSets: 1_000,
  /** One for each release and branch that is compared with. */
  baselines: 1_000,
  /** A snapshot that admits requests reads all, and holds each placement against each. */
  profiles: 200,
  /** Each alert is sent to all. */
  webhooks: 32,
  /** As many as one edge can serve while all are busy: docs/scale.md. */
  runners: 1_000,
  /** A token ends within an hour, and lets one runner in. */
  registrationTokens: 1_000,
  /** A key for each person, service and pipeline. */
  keys: 1_000,
  /** Half of what the queue holds. */
  queuedJobs: 5_000,
  /** A quarter of what the queue holds: an open page has one or two. */
  eventStreams: 256,
};
