import type { Profile } from "../../protocol/fleet/profile.ts";
import type { SpanScope } from "../../telemetry/span.ts";
import { ageMs } from "../clock.ts";
import { configOf, type Env, type ProjectEnv } from "../config.ts";
import { chooseVersion } from "../models/choose-version.ts";
import { openDatabase } from "../store/database.ts";
import { type LivePlacement, readAllLivePlacements } from "../store/fleet/live-placement-store.ts";
import { readProfilesByProject } from "../store/fleet/profile-store.ts";
import { type NamedVersion, readAllVersions } from "../store/models/model-store.ts";
import { findProjectOfPlacement } from "../store/project-store.ts";

export type WaitUntil = (work: Promise<unknown>) => void;

/** A request of a project, behind which work may go on. */
export interface ProjectCall {
  readonly env: ProjectEnv;
  readonly waitUntil: WaitUntil;
}

/** A request that wants an inference. */
export interface InferCall extends ProjectCall {
  readonly arrivedAtMs: number;
  /** The span that it is answered within; null where it is not traced. */
  readonly scope: SpanScope | null;
}

const KEPT = 10_000;
/** A placement stays with its project: what was read once holds, and a request that measures waits for no database. */
const known = new Map<string, string>();

/** Whose model a placement is of; null where the runner has none of that id. */
export async function projectOfPlacement(env: Env, runnerId: string, id: string): Promise<string | null> {
  const place = `${runnerId} ${id}`;
  const found = known.get(place) ?? (await findProjectOfPlacement(openDatabase(env.DB), runnerId, id));
  if (found === null) return null;
  if (known.size >= KEPT) known.clear();
  known.set(place, found);
  return found;
}

export type Version = NamedVersion;

/** What one project has. */
interface ProjectSnapshot {
  /** Versions by model name and by model id, in order. */
  readonly versions: ReadonlyMap<string, readonly Version[]>;
  /** Names of all its hardware profiles. */
  readonly profiles: ReadonlySet<string>;
}

/** Models and placements as this isolate last read them; a request finds those of its own project alone. */
export interface Snapshot {
  readonly readAtMs: number;
  /** Those that have models. */
  readonly projects: ReadonlyMap<string, ProjectSnapshot>;
  /** By version, whose ids no two projects share. */
  readonly placements: ReadonlyMap<string, readonly LivePlacement[]>;
}

/** Within this time after a read an unknown model costs none; before, each request for one reads, since none can share another's. */
const FRESH_MS = 250;

let current: Snapshot | null = null;
/** When the last background read began: a promise may not be shared between requests, so a time is. */
let readingSinceMs = Number.NEGATIVE_INFINITY;

/**
 * The snapshot that requests are admitted by. It is read in the background when it has aged, so that
 * no request waits for the database, but the first of an isolate.
 */
export async function currentSnapshot({ env, waitUntil }: ProjectCall): Promise<Snapshot> {
  if (current === null) return readSnapshot(env);
  const { snapshotMs } = configOf(env);
  if (ageMs(current.readAtMs) > snapshotMs && ageMs(readingSinceMs) > snapshotMs) {
    readingSinceMs = Date.now();
    waitUntil(readSnapshot(env).catch(() => undefined));
  }
  return current;
}

/** The current snapshot, or one that was read within the last moment where that does not know what is looked for. */
export async function snapshotWith(call: ProjectCall, knows: (snapshot: Snapshot) => boolean): Promise<Snapshot> {
  const snapshot = await currentSnapshot(call);
  return knows(snapshot) || ageMs(snapshot.readAtMs) < FRESH_MS ? snapshot : readSnapshot(call.env);
}

/** The version that a reference means, and the snapshot that knows it; null where there is none. */
export async function locateVersion(
  call: ProjectCall,
  reference: string,
): Promise<{ snapshot: Snapshot; version: Version } | null> {
  const { project } = call.env;
  const snapshot = await snapshotWith(call, (read) => findVersion(read, project, reference) !== null);
  const version = findVersion(snapshot, project, reference);
  return version === null ? null : { snapshot, version };
}

async function readSnapshot(env: Env): Promise<Snapshot> {
  const db = openDatabase(env.DB);
  const readAtMs = Date.now();
  const profilesOf = await readProfilesByProject(db);
  const [versions, placements] = await Promise.all([readAllVersions(db), readAllLivePlacements(db, profilesOf)]);
  const byProject = Map.groupBy(versions, ({ project }) => project);
  const read: Snapshot = {
    readAtMs,
    projects: new Map([...byProject].map(([project, own]) => [project, toProjectSnapshot(own, profilesOf(project))])),
    placements: Map.groupBy(placements, (placement) => placement.modelVersionId),
  };
  // A read that took longer does not bring back what a later one has replaced.
  if (current === null || readAtMs >= current.readAtMs) current = read;
  return current;
}

function toProjectSnapshot(versions: readonly Version[], profiles: readonly Profile[]): ProjectSnapshot {
  return {
    versions: new Map([
      ...Map.groupBy(versions, (version) => version.model),
      ...Map.groupBy(versions, (version) => version.modelId),
    ]),
    profiles: new Set(profiles.map(({ name }) => name)),
  };
}

/** The project's version that `name`, `name@2` or an id means. */
export function findVersion(snapshot: Snapshot, project: string, reference: string): Version | null {
  const [name = "", number] = reference.split("@", 2);
  const versions = snapshot.projects.get(project)?.versions.get(name) ?? [];
  return chooseVersion(versions, number, (id) => snapshot.placements.has(id));
}
