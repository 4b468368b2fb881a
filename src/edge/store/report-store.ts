import { and, eq } from "drizzle-orm";
import { createContentId } from "../../protocol/id.ts";
import { ReportFormat } from "../../protocol/report-format.ts";
import type { ReportRun } from "../../protocol/run.ts";
import type { ProjectDatabase } from "./database.ts";
import { toInstant } from "./instant.ts";
import { reports } from "./schema.ts";

/** Two keys may use the same name without meeting. */
export function reportIdOf(ownerId: string, name: string): Promise<string> {
  return createContentId("run", `${ownerId} ${name}`);
}

export type StoredReport = typeof reports.$inferSelect;

/** A statement that stores a report; it fails, and all of its transaction with it, where its run is there already. */
export function insertReport(binding: D1Database, report: StoredReport): D1PreparedStatement {
  const { id, project, ownerId, name, digest, tool, label, revision, points, atMs, storedAtMs } = report;
  return binding
    .prepare(
      `insert into reports (id, project, owner_id, name, digest, tool, label, revision, points, at_ms, stored_at_ms)
       values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)`,
    )
    .bind(id, project, ownerId, name, digest, tool, label, revision, points, atMs, storedAtMs);
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
