import type { Profile } from "../../protocol/fleet/profile.ts";
import type { SpanScope } from "../../telemetry/span.ts";
import { ageMs } from "../clock.ts";
import { configOf, type Env, type ProjectEnv } from "../config.ts";
import { chooseVersion } from "../models/choose-version.ts";
import { openDatabase } from "../store/database.ts";
import { type LivePlacement, readAllLivePlacements, readServingChange } from "../store/fleet/live-placement-store.ts";
import { readProfilesByProject } from "../store/fleet/profile-store.ts";
import { type NamedVersion, readAllVersions } from "../store/models/model-store.ts";
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
}

const KEPT = 10_000;
/** A placement never changes its project: one reading holds, so that a measurement waits for no database. */
const known = new Map<string, string>();

/** Project of a placement's model; null where the runner has no placement of that id. */
export async function projectOfPlacement(env: Env, runnerId: string, id: string): Promise<string | null> {
  const place = `${runnerId} ${id}`;
  const found = known.get(place) ?? (await findProjectOfPlacement(openDatabase(env.DB), runnerId, id));
  if (found === null) return null;
  if (known.size >= KEPT) known.clear();
  known.set(place, found);
  return found;
}

export type Version = NamedVersion;

/** Versions and profiles of one project. */
interface ProjectSnapshot {
  /** Every version, by model and in order. */
  readonly all: readonly Version[];
  /** Versions by model name and by model id, in order. */
  readonly versions: ReadonlyMap<string, readonly Version[]>;
  /** Names of all its hardware profiles. */
  readonly profiles: ReadonlySet<string>;
}

/** Models and placements from this isolate's last reading; a request finds only those of its own project. */
export interface Snapshot {
  readonly readAtMs: number;
  /** Changes through this isolate before the reading began. */
  readonly changes: number;
  /** Number of the reading in this isolate. */
  readonly reading: number;
  /** Mark of the database's last change by then; null where it has none. */
  readonly changed: string | null;
  /** Projects with models. */
  readonly projects: ReadonlyMap<string, ProjectSnapshot>;
  /** By version; ids are unique across projects. */
  readonly placements: ReadonlyMap<string, readonly LivePlacement[]>;
}

/**
 * An unknown model causes no new reading within this time. Before, each request for one reads, since none can share
 * another's.
 */
const FRESH_MS = 250;

let current: Snapshot | null = null;
/** Counts changes through this isolate, and readings. */
let changes = 0;
let readings = 0;
/** Number of the last change of each project that the current snapshot lacks. */
const changedLast = new Map<string, number>();
/** Start of the last background reading: requests cannot share a promise, so they share a time. */
let readingSinceMs = Number.NEGATIVE_INFINITY;

/**
 * The snapshot that admits requests. It is refreshed in the background when it has aged; only an isolate's first
 * request waits for the database, and those of a project that was just changed.
 */
export async function currentSnapshot({ env, waitUntil }: ProjectCall): Promise<Snapshot> {
  if (current === null || (changedLast.get(env.project) ?? 0) > current.changes) return readSnapshot(env);
  const { snapshotMs } = configOf(env);
  if (ageMs(current.readAtMs) > snapshotMs && ageMs(readingSinceMs) > snapshotMs) {
    readingSinceMs = Date.now();
    waitUntil(readSnapshot(env).catch(() => undefined));
  }
  return current;
}

/** The current snapshot, or one read within the last moment where the current one lacks the wanted item. */
export async function snapshotWith(call: ProjectCall, knows: (snapshot: Snapshot) => boolean): Promise<Snapshot> {
  const snapshot = await currentSnapshot(call);
  return knows(snapshot) || ageMs(snapshot.readAtMs) < FRESH_MS ? snapshot : readSnapshot(call.env);
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
  const { project } = call.env;
  const snapshot = await snapshotWith(call, (read) => findVersion(read, project, reference) !== null);
  const version = findVersion(snapshot, project, reference);
  return version === null ? null : { snapshot, version };
}

/** The snapshot of this moment: the current one, where the database was not changed since, or one that is read anew. */
async function readSnapshot(env: Env): Promise<Snapshot> {
  const db = openDatabase(env.DB);
  const begun = { readAtMs: Date.now(), changes, reading: ++readings };
  const changed = await readServingChange(db);
  if (changed !== null && current?.changed === changed && !hasEndedByTime(current)) {
    return replaceCurrent({ ...current, ...begun });
  }
  const profilesOf = await readProfilesByProject(db);
  const [versions, placements] = await Promise.all([readAllVersions(db), readAllLivePlacements(db, profilesOf)]);
  const byProject = Map.groupBy(versions, ({ project }) => project);
  const read: Snapshot = {
    ...begun,
    changed,
    projects: new Map([...byProject].map(([project, own]) => [project, toProjectSnapshot(own, profilesOf(project))])),
    placements: Map.groupBy(placements, (placement) => placement.modelVersionId),
  };
  return replaceCurrent(read);
}

/** Whether a quarantine has ended, which changes nothing in the database. */
function hasEndedByTime({ placements }: Snapshot): boolean {
  const nowMs = Date.now();
  return placements.values().some((those) => those.some(({ heldUntilMs = Infinity }) => heldUntilMs <= nowMs));
}

/** A slow reading does not replace the result of a later one, which is returned then. */
function replaceCurrent(read: Snapshot): Snapshot {
  if (current === null || (read.changes >= current.changes && read.reading > current.reading)) current = read;
  for (const [project, change] of changedLast) if (change <= current.changes) changedLast.delete(project);
  return current;
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
  current = null;
}

function toProjectSnapshot(versions: readonly Version[], profiles: readonly Profile[]): ProjectSnapshot {
  const byName = Map.groupBy(versions, (version) => version.model);
  return {
    all: [...byName.values()].flat(),
    versions: new Map([...byName, ...Map.groupBy(versions, (version) => version.modelId)]),
    profiles: new Set(profiles.map(({ name }) => name)),
  };
}

/** Whether any of a version's placements takes requests now. */
export function isServed(placements: readonly Pick<LivePlacement, "online" | "draining">[]): boolean {
  return placements.some(({ online, draining }) => online && !draining);
}

/** The project's version by `name`, `name@2` or an id. */
export function findVersion(snapshot: Snapshot, project: string, reference: string): Version | null {
  const [name = "", number] = reference.split("@", 2);
  const versions = snapshot.projects.get(project)?.versions.get(name) ?? [];
  return chooseVersion(versions, number, (id) => snapshot.placements.has(id));
}
