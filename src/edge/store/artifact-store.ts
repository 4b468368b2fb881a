import { and, asc, eq } from "drizzle-orm";
import { JobArtifact, type JobArtifactName } from "../../protocol/jobs/job-artifact.ts";
import { endShortTurn } from "../turns.ts";
import { openProject, type ProjectDatabase, type ProjectStorage } from "./database.ts";
import { jobArtifacts } from "./schema.ts";
import { hexOf } from "./secret.ts";

/** Artifacts are addressed by content, so the same bytes are stored once. */
function keyOf(digest: string): string {
  return `artifacts/${digest.replace(":", "/")}`;
}

/** Bytes that are digested, or given to the bucket, in a short turn: about a millisecond. */
const TURN_BYTES = 2 ** 20;

/** Writes bytes and closes; others have their turns before each slice. */
export async function writeSlices(
  writer: WritableStreamDefaultWriter<Uint8Array>,
  bytes: ArrayBuffer,
  sliceBytes = TURN_BYTES,
): Promise<void> {
  for (let first = 0; first < bytes.byteLength; first += sliceBytes) {
    await endShortTurn();
    await writer.write(new Uint8Array(bytes, first, Math.min(sliceBytes, bytes.byteLength - first)));
  }
  await writer.close();
}

/** Digest of the bytes as `sha256:…`. */
export async function digestOf(bytes: ArrayBuffer): Promise<string> {
  if (bytes.byteLength <= TURN_BYTES) return toDigest(await crypto.subtle.digest("SHA-256", bytes));
  const digesting = new crypto.DigestStream("SHA-256");
  await writeSlices(digesting.getWriter(), bytes);
  return toDigest(await digesting.digest);
}

function toDigest(digest: ArrayBuffer): string {
  return `sha256:${hexOf(digest)}`;
}

/**
 * Stores bytes under their digest; R2 checks the digest as they arrive, and fails if it differs. A stream must have a
 * known length, such as a request's body with a content length.
 */
export async function putArtifact(
  bucket: R2Bucket,
  digest: string,
  bytes: ArrayBuffer | ReadableStream,
): Promise<void> {
  const options = { sha256: digest.slice("sha256:".length) };
  if (!(bytes instanceof ArrayBuffer) || bytes.byteLength <= TURN_BYTES) {
    await bucket.put(keyOf(digest), bytes, options);
    return;
  }
  const { readable, writable } = new FixedLengthStream(bytes.byteLength);
  const writer = writable.getWriter();
  const [put, written] = await settlePut(bucket.put(keyOf(digest), readable, options), (refused) => {
    refused.addEventListener("abort", () => void writer.abort(refused.reason).catch(() => undefined));
    return writeSlices(writer, bytes);
  });
  if (put.status === "rejected") throw put.reason;
  if (written.status === "rejected") throw written.reason;
}

/**
 * Outcomes of a put, and of the writing of what it puts, which must end once its signal is aborted: a put that fails
 * may not have taken its stream, which nobody reads then.
 */
export async function settlePut(
  put: Promise<unknown>,
  write: (refused: AbortSignal) => Promise<void>,
): Promise<[put: PromiseSettledResult<unknown>, written: PromiseSettledResult<void>]> {
  const refused = new AbortController();
  const stored = put.catch((error: unknown) => {
    refused.abort(error);
    throw error;
  });
  return Promise.allSettled([stored, write(refused.signal)]);
}

export async function getArtifact(bucket: R2Bucket, digest: string): Promise<R2ObjectBody | null> {
  return bucket.get(keyOf(digest));
}

export async function hasArtifact(bucket: R2Bucket, digest: string): Promise<boolean> {
  return (await measureArtifact(bucket, digest)) !== null;
}

/** Bytes of an artifact; null where there is none. */
async function measureArtifact(bucket: R2Bucket, digest: string): Promise<number | null> {
  return (await bucket.head(keyOf(digest)))?.size ?? null;
}

const SIZES_KEPT = 1_000;
/** Size of an artifact by its digest, with which it cannot change. A runner reads a file by many ranges. */
const sizes = new Map<string, number>();

/**
 * Bytes that an artifact has; null where there is none. Of one that was deleted since it was last measured here, the
 * size may still be answered: reading it then finds nothing.
 */
export async function recallSize(bucket: R2Bucket, digest: string): Promise<number | null> {
  const size = sizes.get(digest) ?? (await measureArtifact(bucket, digest));
  if (size === null) return null;
  if (sizes.size >= SIZES_KEPT) sizes.clear();
  sizes.set(digest, size);
  return size;
}

/** This many bytes of an artifact from an offset. */
export async function getArtifactRange(
  bucket: R2Bucket,
  digest: string,
  range: { readonly offset: number; readonly length: number },
): Promise<R2ObjectBody | null> {
  // R2 rejects an empty range.
  return bucket.get(keyOf(digest), range.length === 0 ? {} : { range });
}

async function deleteArtifacts(bucket: R2Bucket, digests: readonly string[]): Promise<void> {
  if (digests.length > 0) await bucket.delete(digests.map(keyOf));
}

/** Number of artifacts that one step of cleaning deletes. */
const PRUNED_ARTIFACTS = 500;

/** Columns that may name a digest; an artifact named in none of them may be deleted. */
const NAMING_TABLES = [
  "job_artifacts",
  "model_versions",
  "model_variants",
  "uploads",
  "version_data",
  "populations",
  "archives",
  "item_memory_parts",
  "agent_pools",
] as const;
const UNNAMED = [
  ...NAMING_TABLES.map((table) => `not exists (select 1 from ${table} where digest = given.value)`),
  // Read once for all given ones, and only where there are files.
  `given.value not in (select file.value ->> 'digest' from model_versions, json_each(files) as file
    where files is not null)`,
].join(" and ");

/**
 * Records a file of a job of the project, whose bytes are stored. A previous file of the same name is deleted unless it
 * is named elsewhere.
 */
export async function recordJobArtifact(
  env: ProjectStorage,
  jobId: string,
  artifact: JobArtifact,
  nowMs: number,
): Promise<void> {
  const db = openProject(env);
  const before = await findJobArtifact(db, jobId, artifact.name);
  const { digest, sizeBytes, mediaType } = artifact;
  const set = { digest, sizeBytes, mediaType, createdAtMs: nowMs };
  await db
    .insert(jobArtifacts)
    .values({ jobId, project: db.project, name: artifact.name, ...set })
    .onConflictDoUpdate({ target: [jobArtifacts.jobId, jobArtifacts.name], set });
  if (before !== null && before.digest !== digest) await deleteUnnamed(env.DB, env.ARTIFACTS, [before.digest]);
}

export async function findJobArtifact(
  db: ProjectDatabase,
  jobId: string,
  name: JobArtifactName,
): Promise<JobArtifact | null> {
  const [row] = await db
    .select()
    .from(jobArtifacts)
    .where(and(eq(jobArtifacts.project, db.project), eq(jobArtifacts.jobId, jobId), eq(jobArtifacts.name, name)));
  return row === undefined ? null : JobArtifact.parse(row);
}

/** The files of a job by name. */
export async function listJobArtifacts(db: ProjectDatabase, jobId: string): Promise<JobArtifact[]> {
  const rows = await db
    .select()
    .from(jobArtifacts)
    .where(and(eq(jobArtifacts.project, db.project), eq(jobArtifacts.jobId, jobId)))
    .orderBy(asc(jobArtifacts.name));
  return rows.map((row) => JobArtifact.parse(row));
}

/** Deletes the oldest files of jobs from before `beforeMs`; bytes that are named elsewhere stay in the bucket. */
export async function pruneJobArtifacts(binding: D1Database, bucket: R2Bucket, beforeMs: number): Promise<void> {
  const { results } = await binding
    .prepare(
      `delete from job_artifacts where rowid in
       (select rowid from job_artifacts where created_at_ms < ?1 order by created_at_ms limit ?2) returning digest`,
    )
    .bind(beforeMs, PRUNED_ARTIFACTS)
    .all<{ digest: string }>();
  await deleteUnnamed(binding, bucket, [...new Set(results.map(({ digest }) => digest))]);
}

/** Deletes those of these artifacts that no row names any more. */
export async function deleteUnnamed(binding: D1Database, bucket: R2Bucket, digests: readonly string[]): Promise<void> {
  if (digests.length === 0) return;
  const { results } = await binding
    .prepare(`select given.value as digest from json_each(?1) as given where ${UNNAMED}`)
    .bind(JSON.stringify(digests))
    .all<{ digest: string }>();
  await deleteArtifacts(
    bucket,
    results.map(({ digest }) => digest),
  );
}
