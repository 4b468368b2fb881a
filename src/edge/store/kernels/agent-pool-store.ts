import { and, asc, eq, gt, type SQL, sql } from "drizzle-orm";
import { AgentPool, type AgentPoolSpec, type PooledAgents } from "../../../protocol/jobs/agent-pool.ts";
import type { PageQuery } from "../../../protocol/wire/page.ts";
import { cutPage, decodeCursor } from "../cursor.ts";
import type { Database, ProjectDatabase } from "../database.ts";
import { toInstant } from "../../clock.ts";
import { roomFor } from "../quotas/quota-store.ts";
import { agentPools } from "../schema.ts";

function toAgentPool(row: typeof agentPools.$inferSelect): AgentPool {
  const { spec, digest, generation, version } = row;
  const times = { createdAt: toInstant(row.createdAtMs), updatedAt: toInstant(row.updatedAtMs) };
  return AgentPool.parse({ ...spec, digest, generation, version, sizeBytes: sizeOf(spec), ...times });
}

/** Bytes of a pool's states. */
export function sizeOf({ agents, stateSize }: Pick<AgentPoolSpec, "agents" | "stateSize">): number {
  return 4 * agents * stateSize;
}

/** A pool in the form for a runner's job. */
export function toPooledAgents(pool: AgentPool): PooledAgents {
  const { name, digest, agents, stateSize, residency, minFreeGpu, minFreeHost, generation, version } = pool;
  return { name, digest, agents, stateSize, residency, minFreeGpu, minFreeHost, generation, version };
}

function isNamed({ project }: ProjectDatabase, name: string): SQL {
  return and(eq(agentPools.project, project), eq(agentPools.name, name))!;
}

/** Creates a pool, unless its name is taken or the project's quota is used up. */
export async function createAgentPool(db: ProjectDatabase, spec: AgentPoolSpec): Promise<AgentPool | "taken" | "full"> {
  const { project } = db;
  const nowMs = Date.now();
  const { meta } = await db.run(sql`
    insert into agent_pools (project, name, spec, digest, generation, version, created_at_ms, updated_at_ms)
    select ${project}, ${spec.name}, ${JSON.stringify(spec)}, null, 0, 1, ${nowMs}, ${nowMs}
    where ${roomFor(db, "agentPools")}
    on conflict do nothing`);
  const found = await findAgentPool(db, spec.name);
  if (meta.changes > 0 && found !== null) return found;
  return found === null ? "full" : "taken";
}

export async function findAgentPool(db: ProjectDatabase, name: string): Promise<AgentPool | null> {
  const [row] = await db.select().from(agentPools).where(isNamed(db, name));
  return row === undefined ? null : toAgentPool(row);
}

/** Pools by name. Throws `invalid-request` for a cursor of another list. */
export async function listAgentPools(
  db: ProjectDatabase,
  { cursor, limit }: PageQuery,
): Promise<{ items: AgentPool[]; nextCursor: string | null }> {
  const after = cursor === undefined ? undefined : gt(agentPools.name, String(decodeCursor(cursor, 1)[0]));
  const found = await db
    .select()
    .from(agentPools)
    .where(and(eq(agentPools.project, db.project), after))
    .orderBy(asc(agentPools.name))
    .limit(limit + 1);
  const { rows, nextCursor } = cutPage(found, limit, (row) => [row.name]);
  return { items: rows.map(toAgentPool), nextCursor };
}

/** Replaces a pool's states if it still has `version`; null where it does not, or is gone. */
export async function saveStates(
  db: ProjectDatabase,
  name: string,
  version: number,
  { digest, generation }: { readonly digest: string; readonly generation: number },
): Promise<AgentPool | null> {
  const [row] = await db
    .update(agentPools)
    .set({ digest, generation, version: sql`${agentPools.version} + 1`, updatedAtMs: Date.now() })
    .where(and(isNamed(db, name), eq(agentPools.version, version)))
    .returning();
  return row === undefined ? null : toAgentPool(row);
}

/** Deletes a pool and returns the digest of its states; undefined where there is none. */
export async function deleteAgentPool(db: ProjectDatabase, name: string): Promise<string | null | undefined> {
  const [gone] = await db.delete(agentPools).where(isNamed(db, name)).returning({ digest: agentPools.digest });
  return gone === undefined ? undefined : gone.digest;
}

/** True if an artifact holds the states of a pool of this project; null: of any project. */
export async function isPoolDigest(db: Database, digest: string, project: string | null): Promise<boolean> {
  const [row] = await db
    .select({ name: agentPools.name })
    .from(agentPools)
    .where(and(eq(agentPools.digest, digest), project === null ? undefined : eq(agentPools.project, project)))
    .limit(1);
  return row !== undefined;
}
