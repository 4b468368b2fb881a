import { type SQL, sql } from "drizzle-orm";
import { type Quota, type QuotaLimits, QuotaName } from "../../../protocol/service/quota.ts";
import { ageMs } from "../../clock.ts";
import { openDatabase, type ProjectDatabase } from "../database.ts";
import { projectQuotas } from "../schema.ts";
import { DEFAULT_QUOTAS } from "./default-quotas.ts";
import { LIVES, storedBytesOf } from "./stored-bytes.ts";

/** Quotas of what the database has. The others are of what goes on at the queue. */
export type StoredQuota = Exclude<QuotaName, "queuedJobs" | "eventStreams">;

const rows =
  (table: string, more = "") =>
  (project: string) =>
    `select count(*) from ${table} where project = ${project}${more === "" ? "" : ` and ${more}`}`;
const counter = (count: string) => (project: string) =>
  `select ${count} from project_counts where project = ${project}`;

/** SQL for what counts towards each quota, of a project that is given as SQL. Each reads an index, or a counter. */
const USED: Readonly<Record<StoredQuota, (project: string) => string>> = {
  models: rows("models"),
  versions: (project) =>
    `select count(*) from models m join model_versions v on v.model_id = m.id where m.project = ${project}`,
  storedBytes: storedBytesOf,
  uploads: rows("uploads", LIVES),
  populations: rows("populations"),
  archives: rows("archives"),
  itemMemories: rows("item_memories"),
  agentPools: rows("agent_pools"),
  series: counter("series"),
  runs: counter("runs"),
  points: counter("points"),
  pointsADay: counter("iif(day = unixepoch() / 86400, points_of_day, 0)"),
  thresholds: rows("thresholds"),
  requirementSets: rows("requirement_sets"),
  baselines: rows("baselines"),
  profiles: rows("profiles"),
  webhooks: rows("webhooks"),
  runners: rows("runners", "removed_at_ms is null"),
  registrationTokens: rows("registration_tokens", "used_by_runner_id is null and expires_at_ms > unixepoch() * 1000"),
  keys: rows("keys", "revoked_at_ms is null"),
};
const STORED = Object.keys(USED) as StoredQuota[];

const usedOf = (quota: StoredQuota, project: string) => `coalesce((${USED[quota](project)}), 0)`;
const limitOf = (quota: QuotaName, project: string) =>
  `coalesce((select limits ->> '${quota}' from project_quotas where project = ${project}), ${DEFAULT_QUOTAS[quota]})`;

/** Condition that a project has room for so many more of something. Both are given as SQL. */
export function hasRoom(quota: StoredQuota, project: string, more = "1"): string {
  return `${usedOf(quota, project)} + ${more} <= ${limitOf(quota, project)}`;
}

/**
 * SQL condition that a project has room for a file beside all its others; each parameter is an SQL expression. The
 * first sum counts a file once for each row that names it, which is fast and never too small. The exact sum is read
 * only where the first one exceeds the limit.
 */
export function hasRoomForFile(project: string, digest: string, sizeBytes: string): string {
  const fits = (used: string) => `coalesce((${used}), 0) + ${sizeBytes} <= ${limitOf("storedBytes", project)}`;
  return `(${fits(storedBytesOf(project, digest, "union all"))} or ${fits(storedBytesOf(project, digest))})`;
}

/** The condition of `hasRoom` for one more, in a statement of drizzle's. */
export function roomFor({ project }: Pick<ProjectDatabase, "project">, quota: StoredQuota): SQL {
  return ofProject(project, (name) => hasRoom(quota, name));
}

function ofProject(project: string, write: (project: string) => string): SQL {
  const parts = write("?project").split("?project");
  return sql.join(
    parts.map((part) => sql.raw(part)),
    sql`${project}`,
  );
}

/** Statement for what a job needs room for: in the queue, and for its run once it has ended. */
export function selectJobRoom(db: ProjectDatabase) {
  const mostQueued = ofProject(db.project, (project) => limitOf("queuedJobs", project)).mapWith(Number);
  const fits = roomFor(db, "runs").mapWith(Boolean);
  return db.select({ mostQueued: mostQueued.as("most_queued"), fits: fits.as("fits") }).from(sql`(select 1)`);
}

/** The limits that the operator set for a project. */
async function readSet(DB: D1Database, project: string): Promise<QuotaLimits> {
  const query = DB.prepare("select limits from project_quotas where project = ?1").bind(project);
  return JSON.parse((await query.first<string>("limits")) ?? "{}") as QuotaLimits;
}

/** Time for which this isolate does not read a project's limits again. */
const LIMITS_MS = 1_000;
const PROJECTS_KEPT = 1_000;
const lastSet = new Map<string, { readonly limits: QuotaLimits; readonly readAtMs: number }>();

/** Limit of a quota that the queue's object holds, as of the last second. */
export async function readLimit(DB: D1Database, project: string, quota: QuotaName): Promise<number> {
  return (await recallSet(DB, project))[quota] ?? DEFAULT_QUOTAS[quota];
}

async function recallSet(DB: D1Database, project: string): Promise<QuotaLimits> {
  const known = lastSet.get(project);
  if (known !== undefined && ageMs(known.readAtMs) < LIMITS_MS) return known.limits;
  const limits = await readSet(DB, project);
  if (lastSet.size >= PROJECTS_KEPT) lastSet.clear();
  lastSet.set(project, { limits, readAtMs: Date.now() });
  return limits;
}

/** Every quota of a project in order; `now` is what goes on at the queue. */
export async function readQuotas(
  DB: D1Database,
  project: string,
  now: Readonly<Record<Exclude<QuotaName, StoredQuota>, number>>,
): Promise<Quota[]> {
  const columns = STORED.map((quota) => `${usedOf(quota, "?1")} as ${quota}`);
  const [set, counted] = await Promise.all([
    readSet(DB, project),
    DB.prepare(`select ${columns.join()}`).bind(project).first<Record<StoredQuota, number>>(),
  ]);
  const used: Readonly<Record<string, number>> = { ...counted, ...now };
  return QuotaName.options.map((name) => {
    const limit = set[name] ?? DEFAULT_QUOTAS[name];
    return { name, used: used[name] ?? 0, limit, isSet: set[name] !== undefined };
  });
}

/** Replaces the limits that the operator set for a project. */
export async function setQuotas(DB: D1Database, project: string, limits: QuotaLimits): Promise<void> {
  await openDatabase(DB)
    .insert(projectQuotas)
    .values({ project, limits })
    .onConflictDoUpdate({ target: projectQuotas.project, set: { limits } });
  lastSet.delete(project);
}
