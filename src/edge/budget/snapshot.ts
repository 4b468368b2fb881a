import { configOf, type Env } from "../config.ts";
import { openDatabase } from "../store/database.ts";
import { type NamedVersion, readAllVersions } from "../store/model-store.ts";
import { type LivePlacement, readLivePlacements } from "../store/placement-store.ts";

type Version = NamedVersion & { readonly modelId: string };

/** Models and placements as this isolate last read them. */
export interface Snapshot {
  readonly readAtMs: number;
  /** Versions by model name and by model id, in order. */
  readonly versions: ReadonlyMap<string, readonly Version[]>;
  readonly placements: ReadonlyMap<string, readonly LivePlacement[]>;
}

let current: Snapshot | null = null;
/** When the last background read began: a promise may not be shared between requests, so a time is. */
let readingSinceMs = Number.NEGATIVE_INFINITY;

/**
 * The snapshot that requests are admitted by. It is read in the background when it has aged, so that
 * no request waits for the database, but the first of an isolate.
 */
export async function currentSnapshot(env: Env, waitUntil: (work: Promise<unknown>) => void): Promise<Snapshot> {
  if (current === null) return refreshSnapshot(env);
  const { snapshotMs } = configOf(env);
  const nowMs = Date.now();
  if (nowMs - current.readAtMs > snapshotMs && nowMs - readingSinceMs > snapshotMs) {
    readingSinceMs = nowMs;
    waitUntil(refreshSnapshot(env).catch(() => undefined));
  }
  return current;
}

/** Reads the snapshot now: for a model that the current one does not know. */
export async function refreshSnapshot(env: Env): Promise<Snapshot> {
  const db = openDatabase(env.DB);
  const readAtMs = Date.now();
  const [versions, placements] = await Promise.all([readAllVersions(db), readLivePlacements(db)]);
  current = {
    readAtMs,
    versions: new Map([
      ...Map.groupBy(versions, (version) => version.model),
      ...Map.groupBy(versions, (version) => version.modelId),
    ]),
    placements: Map.groupBy(placements, (placement) => placement.modelVersionId),
  };
  return current;
}

/** The version that `name`, `name@2` or an id means: the latest where none is named. */
export function findVersion(snapshot: Snapshot, reference: string): Version | null {
  const [name = "", number] = reference.split("@", 2);
  const versions = snapshot.versions.get(name) ?? [];
  return (
    (number === undefined ? versions.at(-1) : versions.find((version) => String(version.version) === number)) ?? null
  );
}
