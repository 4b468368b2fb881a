import type { Quota, QuotaName } from "../protocol/service/quota.ts";
import type { Numbers } from "./numbers.ts";

const WORDS: Readonly<Record<QuotaName, string>> = {
  models: "models",
  versions: "versions of models",
  storedBytes: "files",
  uploads: "uploads under way",
  populations: "populations",
  archives: "archives",
  itemMemories: "item memories",
  agentPools: "agent pools",
  series: "series",
  runs: "runs and reports",
  points: "points of reports",
  pointsADay: "points of reports today",
  thresholds: "thresholds",
  requirementSets: "requirement sets",
  baselines: "baselines",
  profiles: "hardware profiles",
  webhooks: "webhooks",
  runners: "runners",
  registrationTokens: "tokens of runners",
  keys: "keys",
  queuedJobs: "jobs that wait",
  eventStreams: "event streams",
};

/** What a quota is of. One of a newer edge has its own name. */
export function nameQuota(name: string): string {
  return (WORDS as Readonly<Record<string, string>>)[name] ?? name;
}

/** What is used and may be: `3 of 2,000`, `1.5 GiB of 64 GiB`. */
export function describeUse({ name, used, limit }: Quota, { number, bytes }: Numbers): string {
  const format = name === "storedBytes" ? bytes : number;
  return `${format(used)} of ${format(limit)}`;
}
