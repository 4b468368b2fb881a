import { and, between, desc, eq, inArray, isNull, lt, lte, or, type SQL, sql } from "drizzle-orm";
import type { Capabilities } from "../../../protocol/fleet/hardware.ts";
import { EDGE_RUNNER_ID } from "../../../protocol/models/edge-place.ts";
import type { PageQuery } from "../../../protocol/wire/page.ts";
import type { Profile } from "../../../protocol/fleet/profile.ts";
import { MAIN_PROJECT } from "../../../protocol/service/project.ts";
import type { Roofline } from "../../../protocol/fleet/roofline.ts";
import type { Runner, RunnerQuarantine, RunnerState } from "../../../protocol/fleet/runner.ts";
import { withCapabilities } from "./capability-cache.ts";
import { fitProfile } from "./profile-fit.ts";
import { cutPage, decodeCursor } from "../cursor.ts";
import { type Database, listOf, type ProjectDatabase } from "../database.ts";
import { toInstant, toInstantOrNull } from "../../clock.ts";
import { placements, runners } from "../schema.ts";

type Row = typeof runners.$inferSelect;

/** Vanished runners, and unnoted removals, that one look finds; the next one finds the rest. */
const LOOKED_AT_ONCE = 20;
/** In place of the hash of a removed runner's credential, with its id, until the queue knows: it has an index. */
const ENDING = "ending ";

function stateOf(row: Row): RunnerState {
  if (row.online) return row.draining ? "draining" : "online";
  return row.connectedAtMs === null ? "registered" : "offline";
}

/** True if a quarantine has not ended yet. */
export function holdsStill(quarantine: RunnerQuarantine | null): boolean {
  return quarantine !== null && Date.parse(quarantine.until) > Date.now();
}

function toRunner(row: Row, project: string, profiles: readonly Profile[]): Runner {
  const { capabilities } = row;
  return {
    id: row.id,
    name: row.name,
    state: stateOf(row),
    shared: row.shared,
    owned: row.project === project,
    ephemeral: row.ephemeral,
    quarantine: holdsStill(row.quarantine) ? row.quarantine : null,
    labels: row.labels,
    capabilities,
    profiles: capabilities === null ? [] : profiles.map((profile) => fitProfile(profile, capabilities)),
    version: row.version,
    createdAt: toInstant(row.createdAtMs),
    connectedAt: toInstantOrNull(row.connectedAtMs),
    lastSeenAt: toInstantOrNull(row.lastSeenAtMs),
  };
}

/** Runners that work for a project: its own, and the shared ones of others. */
function isInSight({ project }: ProjectDatabase): SQL {
  return and(isNull(runners.removedAtMs), or(eq(runners.project, project), eq(runners.shared, true)))!;
}

/** One of the project's own runners. */
export function isOwnRunner({ project }: ProjectDatabase, id: string): SQL {
  return and(eq(runners.id, id), eq(runners.project, project), isNull(runners.removedAtMs))!;
}

export async function listRunners(
  db: ProjectDatabase,
  page: PageQuery,
  profiles: readonly Profile[],
): Promise<{ items: Runner[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? undefined : lt(runners.id, String(decodeCursor(page.cursor, 1)[0]));
  const bytes = sql<number>`coalesce(octet_length(${runners.capabilities}), 0)`;
  const found = await db
    .select({ id: runners.id, bytes })
    .from(runners)
    .where(and(isInSight(db), after))
    .orderBy(desc(runners.id))
    .limit(page.limit + 1);
  const { rows: cut, nextCursor } = cutPage(found, countWithin(found, page.limit), (row) => [row.id]);
  const ids = cut.map(({ id }) => id);
  const rows = await db
    .select()
    .from(runners)
    .where(and(inArray(runners.id, listOf(ids)), isInSight(db)))
    .orderBy(desc(runners.id));
  return { items: rows.map((row) => toRunner(row, db.project, profiles)), nextCursor };
}

/** Bytes of what the runners of one page announced; a page has one runner at least. */
const PAGE_BYTES = 4 * 2 ** 20;

function countWithin(found: readonly { readonly bytes: number }[], limit: number): number {
  let bytes = 0;
  const beyond = found.findIndex((row) => (bytes += row.bytes) > PAGE_BYTES);
  return beyond === -1 ? limit : Math.min(limit, Math.max(1, beyond));
}

export async function findRunner(
  db: ProjectDatabase,
  id: string,
  profiles: readonly Profile[],
): Promise<Runner | null> {
  const [row] = await db
    .select()
    .from(runners)
    .where(and(eq(runners.id, id), isInSight(db)));
  return row === undefined ? null : toRunner(row, db.project, profiles);
}

/** A runner with its capabilities and the project that it works for: its own, or all if it is shared. */
export interface AnnouncedRunner {
  readonly id: string;
  readonly project: string;
  readonly shared: boolean;
  readonly capabilities: Capabilities;
}

/** Statements for the runners that work for the project, without what they announced: its own ones, and others. */
export function selectInSight(db: ProjectDatabase) {
  const { id, project, shared, labels, version, online, draining, quarantine } = runners;
  const columns = { id, project, shared, labels, version, online, draining, quarantine };
  return [
    db
      .select(columns)
      .from(runners)
      .where(and(eq(project, db.project), isNull(runners.removedAtMs))),
    // As in the index, which would not serve bound parameters.
    db
      .select(columns)
      .from(runners)
      .where(sql`shared = 1 and removed_at_ms is null and ${project} <> ${db.project}`),
  ] as const;
}

async function readInSight(db: ProjectDatabase) {
  return (await db.batch(selectInSight(db))).flat();
}

/** Capabilities of every runner that works for the project. */
export async function readRunnerCapabilities(db: ProjectDatabase): Promise<AnnouncedRunner[]> {
  return withCapabilities(db, await readInSight(db));
}

export async function readAllCapabilities(db: ProjectDatabase): Promise<Capabilities[]> {
  return (await readRunnerCapabilities(db)).map(({ capabilities }) => capabilities);
}

/** The project's own runners. */
export async function readRunnerIds(db: ProjectDatabase): Promise<string[]> {
  const rows = await db
    .select({ id: runners.id })
    .from(runners)
    .where(and(eq(runners.project, db.project), isNull(runners.removedAtMs)));
  return rows.map(({ id }) => id);
}

/** Those of these runners that work for the project. */
export async function findRunnerIds(db: ProjectDatabase, ids: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .select({ id: runners.id })
    .from(runners)
    .where(and(inArray(runners.id, listOf(ids)), isInSight(db)));
  return new Set(rows.map(({ id }) => id));
}

/**
 * Records a runner's connection and its capabilities; returns its project, and whether it is shared and is to drain.
 */
export async function recordHello(
  db: Database,
  id: string,
  capabilities: Capabilities,
): Promise<Pick<Row, "project" | "shared" | "draining"> | null> {
  const nowMs = Date.now();
  const [row] = await db
    .update(runners)
    .set({
      capabilities,
      online: true,
      connectedAtMs: nowMs,
      lastSeenAtMs: nowMs,
      version: sql`${runners.version} + 1`,
    })
    .where(and(eq(runners.id, id), isNull(runners.removedAtMs)))
    .returning({ project: runners.project, shared: runners.shared, draining: runners.draining });
  return row ?? null;
}

/** Adds a device's roofs to its runner's capabilities. */
export async function recordRoofline(db: Database, id: string, deviceKey: string, roofline: Roofline): Promise<void> {
  await db.run(sql`
    update runners
    set capabilities = json_set(capabilities, device.fullkey || '.roofline', json(${JSON.stringify(roofline)})),
      version = version + 1
    from json_each(runners.capabilities, '$.devices') as device
    where runners.id = ${id} and runners.removed_at_ms is null and device.value->>'key' = ${deviceKey}`);
}

/** Replaces a runner's capabilities. */
export async function recordCapabilities(db: Database, id: string, capabilities: Capabilities): Promise<void> {
  await db
    .update(runners)
    .set({ capabilities, lastSeenAtMs: Date.now(), version: sql`${runners.version} + 1` })
    .where(and(eq(runners.id, id), isNull(runners.removedAtMs)));
}

export async function recordSeen(db: Database, id: string): Promise<void> {
  await db.update(runners).set({ lastSeenAtMs: Date.now() }).where(eq(runners.id, id));
}

/** Records the end of a runner's connection, unless it has connected again since `endedAtMs`. */
export async function recordDisconnect(db: Database, id: string, endedAtMs: number): Promise<void> {
  await db
    .update(runners)
    .set({ online: false, lastSeenAtMs: endedAtMs })
    .where(and(eq(runners.id, id), lte(runners.connectedAtMs, endedAtMs)));
}

/** Records the reason and end of a runner's quarantine; null ends it. */
export async function recordQuarantine(db: Database, id: string, quarantine: RunnerQuarantine | null): Promise<void> {
  await db
    .update(runners)
    .set({ quarantine, version: sql`${runners.version} + 1` })
    .where(and(eq(runners.id, id), isNull(runners.removedAtMs)));
}

/** Starts or ends draining, or work for all projects; false where the project has no such runner. */
export async function changeRunner(
  db: ProjectDatabase,
  id: string,
  change: { readonly draining: boolean } | { readonly shared: boolean },
): Promise<boolean> {
  const changed = await db
    .update(runners)
    .set({ ...change, version: sql`${runners.version} + 1` })
    .where(isOwnRunner(db, id))
    .returning({ id: runners.id });
  return changed.length > 0;
}

/** Removes a runner and its placements; its runs and series stay. False where there is none. */
export async function removeRunner(db: ProjectDatabase, id: string): Promise<boolean> {
  const nowMs = Date.now();
  const own = db.select({ id: runners.id }).from(runners).where(isOwnRunner(db, id));
  // The placements first: a runner that is already removed, as the edge's own row counts, keeps its own.
  const [, changed] = await db.batch([
    db.delete(placements).where(inArray(placements.runnerId, own)),
    db
      .update(runners)
      .set({ removedAtMs: nowMs, online: false, credentialHash: `${ENDING}${id}`, nextCredentialHash: null })
      .where(isOwnRunner(db, id))
      .returning({ id: runners.id }),
  ]);
  return changed.length > 0;
}

/** Notes that the queue knows of a runner's removal. */
export async function noteRemoval(db: Database, id: string): Promise<void> {
  await db
    .update(runners)
    .set({ credentialHash: `ended ${id}` })
    .where(eq(runners.credentialHash, `${ENDING}${id}`));
}

/** Removed runners whose removal the queue may not know of: some of all projects. */
export function readUnnotedRemovals(db: Database, beforeMs: number): Promise<{ id: string; project: string }[]> {
  const { id, project, credentialHash, removedAtMs } = runners;
  return db
    .select({ id, project })
    .from(runners)
    .where(and(between(credentialHash, ENDING, `${ENDING}~`), lte(removedAtMs, beforeMs)))
    .limit(LOOKED_AT_ONCE);
}

/** Ephemeral runners that are offline, or never came, and were not seen since `beforeMs`: some of all projects. */
export function readVanishedRunners(db: Database, beforeMs: number): Promise<{ id: string; project: string }[]> {
  const { id, project, online, lastSeenAtMs, createdAtMs } = runners;
  return db
    .select({ id, project })
    .from(runners)
    .where(
      and(
        // As in the index, which would not serve bound parameters.
        sql`ephemeral = 1 and removed_at_ms is null`,
        eq(online, false),
        lt(sql`coalesce(${lastSeenAtMs}, ${createdAtMs})`, beforeMs),
      ),
    )
    .limit(LOOKED_AT_ONCE);
}

/**
 * Creates the edge's own row among the runners, so that its placements are ordinary rows. It is always online, and
 * counts as removed in views that list, drain or connect runners. No credential has this hash.
 */
export async function ensureEdgeRunner(db: Database): Promise<void> {
  const nowMs = Date.now();
  const row = {
    id: EDGE_RUNNER_ID,
    project: MAIN_PROJECT,
    shared: true,
    name: "edge",
    credentialHash: "edge",
    labels: {},
    online: true,
  };
  await db
    .insert(runners)
    .values({ ...row, createdAtMs: nowMs, removedAtMs: nowMs })
    .onConflictDoNothing();
}

/** Connected runners that accept the project's work, with their capabilities. */
export async function readConnectedRunners(
  db: ProjectDatabase,
): Promise<(AnnouncedRunner & { readonly labels: Record<string, string> })[]> {
  const rows = await readInSight(db);
  return withCapabilities(
    db,
    rows.filter(({ online, draining, quarantine }) => online && !draining && !holdsStill(quarantine)),
  );
}
