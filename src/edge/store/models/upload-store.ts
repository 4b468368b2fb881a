import { and, eq, inArray, lt } from "drizzle-orm";
import type { UploadInput } from "../../../protocol/models/upload.ts";
import { deleteUnnamed, putArtifact, settlePut } from "../artifact-store.ts";
import { listOf, openDatabase, openProject, type ProjectDatabase, type ProjectStorage } from "../database.ts";
import { hasRoom, hasRoomForFile } from "../quotas/quota-store.ts";
import { uploads } from "../schema.ts";

/** An upload of a project. */
export interface StoredUpload {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly isStored: boolean;
}

type Row = typeof uploads.$inferSelect;

function toUpload({ digest, sizeBytes, storedAtMs }: Pick<Row, "digest" | "sizeBytes" | "storedAtMs">): StoredUpload {
  return { digest, sizeBytes, isStored: storedAtMs !== null };
}

function isOf(db: ProjectDatabase, digest: string) {
  return and(eq(uploads.project, db.project), eq(uploads.digest, digest));
}

/** Begins an upload, or finds the one that has begun; null where the project has no room for another. */
export async function beginUpload(
  env: ProjectStorage,
  { digest, sizeBytes }: UploadInput,
  nowMs: number,
): Promise<StoredUpload | null> {
  const db = openProject(env);
  const known = await touchUpload(db, digest, nowMs);
  if (known !== null) return known;
  const { meta } = await env.DB.prepare(
    `insert into uploads (project, digest, size_bytes, touched_at_ms) select ?1, ?2, ?3, ?4
     where ${hasRoom("uploads", "?1")} and ${hasRoomForFile("?1", "?2", "?3")} on conflict do nothing`,
  )
    .bind(env.project, digest, sizeBytes, nowMs)
    .run();
  return meta.changes > 0 ? { digest, sizeBytes, isStored: false } : touchUpload(db, digest, nowMs);
}

/** An upload of the project, which lives on from now; null where there is none. */
export async function touchUpload(db: ProjectDatabase, digest: string, nowMs: number): Promise<StoredUpload | null> {
  const [row] = await db.update(uploads).set({ touchedAtMs: nowMs }).where(isOf(db, digest)).returning();
  return row === undefined ? null : toUpload(row);
}

/** Opens an upload again whose file is gone from the bucket, as after an import. */
export async function reopenUpload(db: ProjectDatabase, digest: string): Promise<void> {
  await db.update(uploads).set({ storedAtMs: null }).where(isOf(db, digest));
}

/** Forgets uploads of files that a model names by now, with parts that were sent of those that it has otherwise. */
export async function forgetUploads(env: ProjectStorage, digests: string[]): Promise<void> {
  const { project } = env;
  const gone = await openProject(env)
    .delete(uploads)
    .where(and(eq(uploads.project, project), inArray(uploads.digest, listOf(digests))))
    .returning();
  // A stored upload has no parts.
  for (const { digest, storedAtMs } of gone) if (storedAtMs === null) await deleteParts(env, digest);
}

/**
 * Sizes of those files that the project has as a whole, by digest: uploads, which live on from now, and files of its
 * models. That another project has a file says nothing.
 */
export async function readOwnFiles(
  { DB, project }: Pick<ProjectStorage, "DB" | "project">,
  digests: readonly string[],
  nowMs: number,
): Promise<Map<string, number>> {
  const list = JSON.stringify(digests);
  const own = "join models m on m.id = v.model_id where m.project = ?1";
  const asked = "in (select value from json_each(?2))";
  const [, found] = await DB.batch<{ digest: string; sizeBytes: number }>([
    DB.prepare(`update uploads set touched_at_ms = ?3 where project = ?1 and digest ${asked}`).bind(
      project,
      list,
      nowMs,
    ),
    DB.prepare(
      `select digest, size_bytes as sizeBytes from uploads
         where project = ?1 and stored_at_ms is not null and digest ${asked}
       union select v.digest, v.size_bytes from model_versions v ${own} and v.files is null and v.digest ${asked}
       union select f.value ->> 'digest', f.value ->> 'sizeBytes' from model_versions v, json_each(v.files) f ${own}
         and v.files is not null and f.value ->> 'digest' ${asked}`,
    ).bind(project, list),
  ]);
  return new Map(found?.results.map(({ digest, sizeBytes }) => [digest, sizeBytes]));
}

/** Folder in the bucket of the parts of all uploads. */
export const PARTS_FOLDER = "uploads/parts/";

function folderOf(project: string, digest: string): string {
  return `${PARTS_FOLDER}${project}/${digest.replace("sha256:", "")}/`;
}

/** Stores a part; R2 checks its digest as it arrives. Where the upload ended meanwhile, the part goes, too. */
export async function putPart(
  env: ProjectStorage,
  { digest, number, partDigest }: { readonly digest: string; readonly number: number; readonly partDigest: string },
  bytes: ReadableStream,
): Promise<void> {
  const sha256 = partDigest.replace("sha256:", "");
  const key = `${folderOf(env.project, digest)}${number}`;
  await env.ARTIFACTS.put(key, bytes, { sha256 });
  const upload = await touchUpload(openProject(env), digest, Date.now());
  // Nobody would delete it later.
  if (upload === null || upload.isStored) await env.ARTIFACTS.delete(key);
}

/** Sizes of the parts that are there, by number. */
export async function readParts(
  { ARTIFACTS, project }: Pick<ProjectStorage, "ARTIFACTS" | "project">,
  digest: string,
): Promise<Map<number, number>> {
  const prefix = folderOf(project, digest);
  // One page of R2 has 1,000 of them, and an upload fewer.
  const { objects } = await ARTIFACTS.list({ prefix });
  return new Map(objects.map(({ key, size }) => [Number(key.slice(prefix.length)), size]));
}

async function deleteParts({ ARTIFACTS, project }: Pick<ProjectStorage, "ARTIFACTS" | "project">, digest: string) {
  const parts = await readParts({ ARTIFACTS, project }, digest);
  const prefix = folderOf(project, digest);
  if (parts.size > 0) await ARTIFACTS.delete([...parts.keys()].map((number) => `${prefix}${number}`));
}

/**
 * Joins the parts of an upload into an artifact, which R2 stores only if it has the digest. Then the parts are gone.
 * `other`: they were another file, and are gone, too. `incomplete`: one was missing; nothing changed.
 */
export async function joinParts(
  env: ProjectStorage,
  db: ProjectDatabase,
  { digest, sizeBytes }: StoredUpload,
  count: number,
  nowMs: number,
): Promise<"stored" | "other" | "incomplete"> {
  const { readable, writable } = new FixedLengthStream(sizeBytes);
  const folder = folderOf(env.project, digest);
  let isIncomplete = false;
  const fill = async (refused: AbortSignal) => {
    try {
      for (let number = 1; number <= count; number++) {
        const part = await env.ARTIFACTS.get(`${folder}${number}`);
        isIncomplete = part === null;
        if (part === null) throw new Error(`the part ${number} is gone`);
        await part.body.pipeTo(writable, { preventClose: true, signal: refused });
      }
      await writable.close();
    } catch (error) {
      // The bucket must not wait for the rest for ever.
      await writable.abort(error).catch(() => undefined);
      throw error;
    }
  };
  const [put, filled] = await settlePut(putArtifact(env.ARTIFACTS, digest, readable), fill);
  if (isIncomplete) return "incomplete";
  if (filled.status === "rejected" && put.status === "rejected") throw filled.reason;
  if (put.status === "rejected") {
    if (!/checksum|digest|sha-?256/i.test(String(put.reason))) throw put.reason;
    await deleteParts(env, digest);
    return "other";
  }
  await db.update(uploads).set({ storedAtMs: nowMs, touchedAtMs: nowMs }).where(isOf(db, digest));
  await deleteParts(env, digest);
  return "stored";
}

/** Number of uploads that one step of cleaning deletes, each with up to some hundred parts. */
const PRUNED_UPLOADS = 20;

/** Deletes the oldest uploads that nobody went on with since `beforeMs`; files that a model names stay. */
export async function pruneUploads(DB: D1Database, ARTIFACTS: R2Bucket, beforeMs: number): Promise<void> {
  const db = openDatabase(DB);
  const old = await db
    .select()
    .from(uploads)
    .where(lt(uploads.touchedAtMs, beforeMs))
    .orderBy(uploads.touchedAtMs)
    .limit(PRUNED_UPLOADS);
  for (const { project, digest } of old) {
    const isOld = and(eq(uploads.project, project), eq(uploads.digest, digest), lt(uploads.touchedAtMs, beforeMs));
    const gone = await db.delete(uploads).where(isOld).returning({ digest: uploads.digest });
    if (gone.length > 0) await deleteParts({ ARTIFACTS, project }, digest);
  }
  await deleteUnnamed(
    DB,
    ARTIFACTS,
    old.map(({ digest }) => digest),
  );
}
