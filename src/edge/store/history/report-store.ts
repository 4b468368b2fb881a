import { and, eq } from "drizzle-orm";
import { ReportFormat, type ReportRun } from "../../../protocol/history/run.ts";
import { createContentId } from "../../../protocol/wire/id.ts";
import { toInstant } from "../../clock.ts";
import type { ProjectDatabase } from "../database.ts";
import { writeSlices } from "../artifact-store.ts";
import { hasRoom } from "../quotas/quota-store.ts";
import { reports } from "../schema.ts";

/** Id by key and name: two keys may use the same name independently. */
export function reportIdOf(ownerId: string, name: string): Promise<string> {
  return createContentId("run", `${ownerId} ${name}`);
}

export type StoredReport = typeof reports.$inferSelect;

/**
 * A statement that stores a report; it fails, with its whole transaction, where its run exists already, or the project
 * has no room for it (`lacksRoom`).
 */
export function insertReport(binding: D1Database, report: StoredReport): D1PreparedStatement {
  const { id, project, ownerId, name, digest, tool, label, revision, points, atMs, storedAtMs } = report;
  return binding
    .prepare(
      `insert into reports (id, project, owner_id, name, digest, tool, label, revision, points, at_ms, stored_at_ms)
       values (${ID_IF_ROOM}, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`,
    )
    .bind(id, project, ownerId, name, digest, tool, label, revision, points, atMs, storedAtMs);
}

/** A null id aborts the transaction, since the column is not nullable. */
const ID_IF_ROOM = `iif(${hasRoom("runs", "?2")} and ${hasRoom("points", "?2", "?9")}
  and ${hasRoom("pointsADay", "?2", "?9")}, ?1, null)`;

/** Whether a transaction failed since the project has no room for the report. */
export function lacksRoom(error: unknown): boolean {
  return String(error).includes("NOT NULL constraint failed: reports.id");
}

export async function findReport(db: ProjectDatabase, id: string): Promise<StoredReport | null> {
  const [row] = await db
    .select()
    .from(reports)
    .where(and(eq(reports.project, db.project), eq(reports.id, id)));
  return row ?? null;
}

export function toReportRun({
  ownerId,
  tool,
  atMs,
  storedAtMs,
  ...row
}: StoredReport): Omit<ReportRun, "samplesBytes"> {
  const { id, name, label, revision, points } = row;
  return {
    origin: "report",
    id,
    owner: ownerId,
    name,
    tool: ReportFormat.parse(tool),
    label,
    revision,
    points,
    at: toInstant(atMs),
    storedAt: toInstant(storedAtMs),
  };
}

/** Identity of samples: a run, and the attempt or content that became it. */
export interface SamplesOf {
  readonly runId: string;
  readonly part: string;
}

function keyOf({ runId, part }: SamplesOf): string {
  return `samples/${runId}/${part}.json.gz`;
}

/** Bytes that are compressed in a turn of about a millisecond. */
const PACKED_BYTES = 32_768;

/** Stores the JSON of raw samples compressed, and returns their number of bytes; storing them again changes nothing. */
export async function putSamples(bucket: R2Bucket, of: SamplesOf, json: string): Promise<number> {
  const { readable, writable } = new CompressionStream("gzip");
  const text = new TextEncoder().encode(json);
  // R2 requires a known length.
  const [bytes] = await Promise.all([
    new Response(readable).arrayBuffer(),
    writeSlices(writable.getWriter(), text.buffer as ArrayBuffer, PACKED_BYTES),
  ]);
  await bucket.put(keyOf(of), bytes, {
    httpMetadata: { contentType: "application/json", contentEncoding: "gzip" },
  });
  return bytes.byteLength;
}

export async function deleteSamples(bucket: R2Bucket, of: SamplesOf): Promise<void> {
  await bucket.delete(keyOf(of));
}

/** The samples as JSON text; null where there are none. */
export async function getSamples(bucket: R2Bucket, of: SamplesOf): Promise<ReadableStream | null> {
  const object = await bucket.get(keyOf(of));
  return object === null ? null : object.body.pipeThrough(new DecompressionStream("gzip"));
}

/** Stored size of a run's samples in bytes; null where there are none. */
export async function measureSamples(bucket: R2Bucket, of: SamplesOf): Promise<number | null> {
  return (await bucket.head(keyOf(of)))?.size ?? null;
}
