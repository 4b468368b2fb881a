import { and, eq, inArray, lt, sql } from "drizzle-orm";
import type { UploadInput } from "../../../protocol/models/upload.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { deleteUnnamed, putArtifact } from "../artifact-store.ts";
import { listOf, openDatabase, type ProjectDatabase, type ProjectStorage } from "../database.ts";
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
  db: ProjectDatabase,
  { digest, sizeBytes }: UploadInput,
  nowMs: number,
): Promise<StoredUpload | null> {
  const known = await touchUpload(db, digest, nowMs);
  if (known !== null) return known;
  const { project } = db;
  const { meta } = await db.run(sql`
    insert into uploads (project, digest, size_bytes, touched_at_ms)
    select ${project}, ${digest}, ${sizeBytes}, ${nowMs}
    where (select count(*) from uploads where project = ${project}) < ${LIMITS.uploads}
      and ${sizeBytes} + (select coalesce(sum(size_bytes), 0) from uploads where project = ${project})
        + (select coalesce(sum(v.size_bytes), 0) from model_versions v join models m on m.id = v.model_id
           where m.project = ${project} and v.files is not null) <= ${LIMITS.largeModelsBytes}
    on conflict do nothing`);
  return meta.changes > 0 ? { digest, sizeBytes, isStored: false } : touchUpload(db, digest, nowMs);
}

/** An upload of the project, which lives on from now; null where there is none. */
export async function touchUpload(db: ProjectDatabase, digest: string, nowMs: number): Promise<StoredUpload | null> {
  const [row] = await db.update(uploads).set({ touchedAtMs: nowMs }).where(isOf(db, digest)).returning();
  return row === undefined ? null : toUpload(row);
}

/** Forgets uploads of files that a model names by now. */
export async function forgetUploads(db: ProjectDatabase, digests: string[]): Promise<void> {
  await db.delete(uploads).where(and(eq(uploads.project, db.project), inArray(uploads.digest, listOf(digests))));
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

function folderOf(project: string, digest: string): string {
  return `uploads/parts/${project}/${digest.replace("sha256:", "")}/`;
}

/** Stores a part; R2 checks its digest as it arrives. */
export async function putPart(
  { ARTIFACTS, project }: ProjectStorage,
  { digest, number, partDigest }: { readonly digest: string; readonly number: number; readonly partDigest: string },
  bytes: ReadableStream,
): Promise<void> {
  const sha256 = partDigest.replace("sha256:", "");
  await ARTIFACTS.put(`${folderOf(project, digest)}${number}`, bytes, { sha256 });
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
 * Joins the parts of an upload into an artifact, which R2 stores only if it has the digest. Then the parts are gone:
 * false where they are another file.
 */
export async function joinParts(
  env: ProjectStorage,
  db: ProjectDatabase,
  { digest, sizeBytes }: StoredUpload,
  count: number,
  nowMs: number,
): Promise<boolean> {
  const { readable, writable } = new FixedLengthStream(sizeBytes);
  const folder = folderOf(env.project, digest);
  const fill = async () => {
    try {
      for (let number = 1; number <= count; number++) {
        const part = await env.ARTIFACTS.get(`${folder}${number}`);
        if (part === null) throw new Error(`the part ${number} of ${digest} is gone`);
        await part.body.pipeTo(writable, { preventClose: true });
      }
      await writable.close();
    } catch (error) {
      // The bucket must not wait for the rest for ever.
      await writable.abort(error).catch(() => undefined);
      throw error;
    }
  };
  const [put, filled] = await Promise.allSettled([putArtifact(env.ARTIFACTS, digest, readable), fill()]);
  if (put.status === "rejected") {
    if (!/checksum|digest|sha-?256/i.test(String(put.reason))) {
      throw filled.status === "rejected" ? filled.reason : put.reason;
    }
    await deleteParts(env, digest);
    return false;
  }
  await db.update(uploads).set({ storedAtMs: nowMs, touchedAtMs: nowMs }).where(isOf(db, digest));
  await deleteParts(env, digest);
  return true;
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
