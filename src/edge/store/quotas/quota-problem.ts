import type { Quota } from "../../../protocol/service/quota.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { ProjectStorage } from "../database.ts";
import { hasRoomForFile, readQuotas, type StoredQuota } from "./quota-store.ts";

type Project = Pick<ProjectStorage, "DB" | "project">;
/** So many more of each are wanted. */
type Wanted = Partial<Readonly<Record<StoredQuota, number>>>;

/** What a project can do by itself. */
const REMEDIES: Partial<Readonly<Record<StoredQuota, string>>> = {
  storedBytes:
    "Delete populations, archives, item memories or agent pools that are not needed, wait until files of jobs age out",
  uploads: "Name the uploaded files in a model, or wait: an upload ends a day after its last part",
  populations: "Delete one",
  archives: "Delete one",
  itemMemories: "Delete one",
  agentPools: "Delete one",
  series: "Report under fewer configurations and labels",
  pointsADay: "Go on after midnight, in UTC",
  thresholds: "Delete one",
  requirementSets: "Delete one",
  baselines: "Delete one",
  profiles: "Delete one",
  webhooks: "Delete one",
  runners: "Remove one",
  registrationTokens: "Use those that there are, or wait: a token ends within an hour",
  keys: "Revoke one",
};

/** The problem that a project may not have this much more: of the first of these for which there is no room. */
export async function quotaExceeded({ DB, project }: Project, wanted: Wanted): Promise<ProblemError> {
  const quotas = await readQuotas(DB, project, { queuedJobs: 0, eventStreams: 0 });
  const asked = quotas.filter(({ name }) => name in wanted);
  const more = ({ name }: Quota) => wanted[name as StoredQuota] ?? 1;
  const found = asked.find((quota) => quota.used + more(quota) > quota.limit);
  const full = found ?? asked[0]!;
  const { name, used, limit } = full;
  // Something was deleted meanwhile.
  const remedy = found === undefined ? "Try again" : REMEDIES[name as StoredQuota];
  const advice = remedy === undefined ? "Ask the operator for more." : `${remedy}, or ask the operator for more.`;
  const detail = `The project ${project} uses ${used} of its quota \`${name}\` of ${limit}, and this takes ${more(full)} more. ${advice}`;
  return new ProblemError("quota-exceeded", detail, { quota: { name, used, limit } });
}

/** Throws `quota-exceeded` unless the project has room for this file beside all its others. */
export async function mustHaveRoomForFile(project: Project, digest: string, sizeBytes: number): Promise<void> {
  const condition = hasRoomForFile("?1", "?2", "?3");
  const query = project.DB.prepare(`select ${condition} as fits`).bind(project.project, digest, sizeBytes);
  if ((await query.first<number>("fits")) !== 1) throw await quotaExceeded(project, { storedBytes: sizeBytes });
}
