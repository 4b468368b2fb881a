import type { SpanScope } from "../../telemetry/span.ts";
import { ageMs } from "../clock.ts";
import { configOf, type Env, type ProjectEnv } from "../config.ts";
import { chooseVersion } from "../models/choose-version.ts";
import { openDatabase, openProject } from "../store/database.ts";
import {
  type LivePlacement,
  readServingChange,
  selectLivePlacements,
  toLivePlacements,
} from "../store/fleet/live-placement-store.ts";
import { selectProfiles, toAllProfiles } from "../store/fleet/profile-store.ts";
import { type NamedVersion, selectServedVersions, toNamedVersions } from "../store/models/model-store.ts";
import { findProjectOfPlacement } from "../store/project-store.ts";

export type WaitUntil = (work: Promise<unknown>) => void;

/** A request of a project, which may continue work behind the reply. */
export interface ProjectCall {
  readonly env: ProjectEnv;
  readonly waitUntil: WaitUntil;
}

/** A request for an inference. */
export interface InferCall extends ProjectCall {
  readonly arrivedAtMs: number;
  /** The request's span, as the parent of further spans; null without tracing. */
  readonly scope: SpanScope | null;
  /** Aborted once the caller has closed the connection; absent where nobody can. */
  readonly gone?: AbortSignal;
  /** Says that the request needs the thread no more; absent where none waits for that. */
  readonly leaveThread?: () => void;
}

const KEPT = 10_000;
/** A placement never changes its project: one reading holds, so that a measurement waits for no database. */
const projectsOf = new Map<string, string>();

/** Project of a placement's model; null where the runner has no placement of that id. */
export async function projectOfPlacement(env: Env, runnerId: string, id: string): Promise<string | null> {
  const place = `${runnerId} ${id}`;
  const found = projectsOf.get(place) ?? (await findProjectOfPlacement(openDatabase(env.DB), runnerId, id));
  if (found === null) return null;
  if (projectsOf.size >= KEPT) projectsOf.clear();
  projectsOf.set(place, found);
  return found;
}

export type Version = NamedVersion;

/** Models and placements of one project, from this isolate's last reading. */
export interface Snapshot {
  readonly readAtMs: number;
  /** Changes through this isolate before the reading began. */
  readonly changes: number;
  /** Number of the reading in this isolate. */
  readonly reading: number;
  /** Mark of the database's last change by then; null where it has none. */
  readonly changed: string | null;
  /** Its versions and placements, and what it counts as beside them. */
  readonly rows: number;
  /** Every version, by model and in order. */
  readonly all: readonly Version[];
  /** Versions by model name and by model id, in order. */
  readonly versions: ReadonlyMap<string, readonly Version[]>;
  /** Names of all its hardware profiles. */
  readonly profiles: ReadonlySet<string>;
  /** By version. */
  readonly placements: ReadonlyMap<string, readonly LivePlacement[]>;
}

/** An unknown model causes no new reading within this time. */
const FRESH_MS = 250;
/** Versions and placements in the snapshots that this isolate keeps: those that were read last. Each has some 2 KB. */
const KEPT_ROWS = 20_000;
const ROW_BYTES = 2_048;
/** What a snapshot counts as beside its rows. */
const SNAPSHOT_ROWS = 10;
/** Time for which others wait for a reading: then it is slow, or was lost with its isolate's request. */
const READING_MS = 500;
const POLL_MS = 5;

/** State of a project in this isolate. */
interface Reading {
  /** Start of the reading under way; requests cannot share a promise, so they share a time. */
  sinceMs: number;
  /** Start of the last reading in the background. */
  refreshedMs: number;
  /** Readings that failed. */
  failures: number;
}

/** What a reading knows of its time: the snapshot's fields of these names. */
type Begun = Pick<Snapshot, "readAtMs" | "changes" | "reading">;

const NEVER = Number.NEGATIVE_INFINITY;
const current = new Map<string, Snapshot>();
/** Rows of these. */
let keptRows = 0;
/** The last reading of the database's mark, which is one for all projects, and the start of the one under way. */
let mark: Begun & Pick<Snapshot, "changed"> = { readAtMs: NEVER, changes: 0, reading: 0, changed: null };
let markingSinceMs = NEVER;
const underWay = new Map<string, Reading>();
/** Counts changes through this isolate, and readings. */
let changes = 0;
let readings = 0;
/** Number of the last change of each project that its snapshot lacks. */
const changedLast = new Map<string, number>();

/**
 * The project's snapshot that admits requests. It is refreshed in the background when it has aged. The database is
 * waited for by the first request of a project in an isolate, by those after a change of it, and after a rest.
 */
export async function currentSnapshot(call: ProjectCall): Promise<Snapshot> {
  const { project } = call.env;
  const known = current.get(project);
  if (known === undefined || (changedLast.get(project) ?? 0) > known.changes) return readSnapshot(call);
  const { snapshotMs, keyExpiryMs } = configOf(call.env);
  if (ageMs(known.readAtMs) > keyExpiryMs) return readSnapshot(call).catch(() => known);
  const reading = readingOf(project);
  if (ageMs(known.readAtMs) > snapshotMs && ageMs(reading.refreshedMs) > snapshotMs) {
    reading.refreshedMs = Date.now();
    call.waitUntil(readSnapshot(call).catch(() => undefined));
  }
  return known;
}

function readingOf(project: string): Reading {
  const known = underWay.get(project) ?? { sinceMs: NEVER, refreshedMs: NEVER, failures: 0 };
  underWay.set(project, known);
  return known;
}

/** The current snapshot, or one read within the last moment where the current one lacks the wanted item. */
export async function snapshotWith(call: ProjectCall, knows: (snapshot: Snapshot) => boolean): Promise<Snapshot> {
  const snapshot = await currentSnapshot(call);
  return knows(snapshot) || ageMs(snapshot.readAtMs) < FRESH_MS ? snapshot : readSnapshot(call);
}

/** A snapshot from the last moment, for those who list what there is. */
export function freshSnapshot(call: ProjectCall): Promise<Snapshot> {
  return snapshotWith(call, () => false);
}

/** The version of a reference, and the snapshot that contains it; null where there is none. */
export async function locateVersion(
  call: ProjectCall,
  reference: string,
): Promise<{ snapshot: Snapshot; version: Version } | null> {
  const snapshot = await snapshotWith(call, (read) => findVersion(read, reference) !== null);
  const version = findVersion(snapshot, reference);
  return version === null ? null : { snapshot, version };
}

/**
 * The snapshot of this moment. One request of a project reads at a time: the others wait for it, and take its result if
 * it began after they came, and after all changes that they know of. Where it fails or takes long, each reads itself.
 */
async function readSnapshot({ env, waitUntil }: ProjectCall): Promise<Snapshot> {
  const { project } = env;
  const wanted = { sinceMs: Date.now(), changes };
  const reading = readingOf(project);
  const { failures } = reading;
  const isWorthWaiting = () => ageMs(reading.sinceMs) < READING_MS && ageMs(wanted.sinceMs) < READING_MS;
  while (isWorthWaiting() && reading.failures === failures) {
    await scheduler.wait(POLL_MS);
    const found = current.get(project);
    if (found !== undefined && found.readAtMs >= wanted.sinceMs && found.changes >= wanted.changes) return found;
  }
  const work = readNow(env, reading);
  // Others wait for it, and this request may end first.
  waitUntil(work.catch(() => undefined));
  return work;
}

async function readNow(env: ProjectEnv, reading: Reading): Promise<Snapshot> {
  const sinceMs = Date.now();
  reading.sinceMs = sinceMs;
  try {
    return replaceCurrent(env.project, await readAnew(env));
  } catch (error) {
    reading.failures++;
    throw error;
  } finally {
    if (reading.sinceMs === sinceMs) reading.sinceMs = NEVER;
  }
}

/** The current snapshot, where the database was not changed since, or one that is read anew. */
async function readAnew(env: ProjectEnv): Promise<Snapshot> {
  const db = openProject(env);
  const begun = { readAtMs: Date.now(), changes, reading: ++readings };
  const { changed, ...looked } = await currentMark(env);
  const known = current.get(env.project);
  if (changed !== null && known?.changed === changed && !hasEndedByTime(known)) return { ...known, ...looked };
  const statements = [selectProfiles(db), selectServedVersions(db), ...selectLivePlacements(db)] as const;
  const [own, served, ...live] = await db.batch(statements);
  const profiles = toAllProfiles(own);
  const versions = await toNamedVersions(db, served);
  const placements = toLivePlacements(db, profiles, live);
  const byName = Map.groupBy(versions, (version) => version.model);
  return {
    ...begun,
    changed,
    rows: SNAPSHOT_ROWS + versions.reduce((sum, version) => sum + rowsOf(version), 0) + placements.length,
    all: [...byName.values()].flat(),
    versions: new Map([...byName, ...Map.groupBy(versions, (version) => version.modelId)]),
    profiles: new Set(profiles.map(({ name }) => name)),
    placements: Map.groupBy(placements, (placement) => placement.modelVersionId),
  };
}

/** What a version counts as: one whose tensors have long names takes the room of many. */
function rowsOf({ inputs, outputs }: Version): number {
  const bytes = [...inputs, ...outputs].reduce((sum, { name, shape }) => sum + name.length + 16 * shape.length, 0);
  return 1 + Math.floor(bytes / ROW_BYTES);
}

/**
 * The mark of the last moment, after all changes of the project through this isolate. One request reads it at a time:
 * with many projects, each would read the same.
 */
async function currentMark(env: ProjectEnv): Promise<typeof mark> {
  const least = changedLast.get(env.project) ?? 0;
  const sinceMs = Date.now();
  // However long its reading took: under load, all that waited would read it again, one after the other.
  const isGood = () => mark.readAtMs > sinceMs - FRESH_MS && mark.readAtMs <= Date.now() && mark.changes >= least;
  while (!isGood() && ageMs(markingSinceMs) < READING_MS && ageMs(sinceMs) < READING_MS) await scheduler.wait(POLL_MS);
  if (isGood()) return mark;
  const begun = { readAtMs: Date.now(), changes, reading: ++readings };
  markingSinceMs = begun.readAtMs;
  try {
    const read = { ...begun, changed: await readServingChange(openProject(env)) };
    if (read.reading > mark.reading) mark = read;
    return read;
  } finally {
    if (markingSinceMs === begun.readAtMs) markingSinceMs = NEVER;
  }
}

/** Whether a quarantine has ended, which changes nothing in the database. */
function hasEndedByTime({ placements }: Snapshot): boolean {
  const nowMs = Date.now();
  return placements.values().some((those) => those.some(({ heldUntilMs = Infinity }) => heldUntilMs <= nowMs));
}

/** A slow reading does not replace the result of a later one, which is returned then. */
function replaceCurrent(project: string, read: Snapshot): Snapshot {
  const known = current.get(project);
  const isLater = known === undefined || (read.changes >= known.changes && read.reading > known.reading);
  const kept = isLater ? read : known;
  current.delete(project);
  current.set(project, kept);
  if ((changedLast.get(project) ?? 0) <= kept.changes) changedLast.delete(project);
  keptRows += kept.rows - (known?.rows ?? 0);
  for (const [oldest, { rows }] of current) {
    if (keptRows <= KEPT_ROWS || oldest === project) break;
    keptRows -= rows;
    current.delete(oldest);
    underWay.delete(oldest);
  }
  return kept;
}

/**
 * Notes a change of a project that is stored: its next request in this isolate sees it. Other isolates see it with their
 * next reading.
 */
export function noteChange(project: string): void {
  changedLast.set(project, ++changes);
}

/** Begins anew, as a new isolate does. */
export function forgetSnapshot(): void {
  current.clear();
  underWay.clear();
  keptRows = 0;
  mark = { ...mark, readAtMs: NEVER };
}

/** Whether any of a version's placements takes requests now. */
export function isServed(placements: readonly Pick<LivePlacement, "online" | "draining">[]): boolean {
  return placements.some(({ online, draining }) => online && !draining);
}

/** The version by `name`, `name@2` or an id. */
export function findVersion({ versions, placements }: Snapshot, reference: string): Version | null {
  const [name = "", number] = reference.split("@", 2);
  return chooseVersion(versions.get(name) ?? [], number, (id) => placements.has(id));
}
