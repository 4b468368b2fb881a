import { and, eq, type SQL } from "drizzle-orm";
import type { JobRun } from "../../../protocol/history/run.ts";
import { JobResult, JobSpec } from "../../../protocol/jobs/job.ts";
import { toInstant } from "../../clock.ts";
import type { ProjectDatabase } from "../database.ts";
import { runs } from "../schema.ts";

export interface RunInput {
  readonly jobId: string;
  readonly attempt: number;
  readonly runnerId: string;
  readonly deviceKey: string;
  readonly spec: JobSpec;
  readonly result: JobResult;
  /** The same as JSON; absent: it is not written yet. */
  readonly resultText?: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

/** A job has at most one run, so the run's id follows from the job's: `job_x` → `run_x`. */
export function runIdOf(jobId: string): string {
  return jobId.replace(/^job_/, "run_");
}

function isRun({ project }: ProjectDatabase, id: string): SQL {
  return and(eq(runs.project, project), eq(runs.id, id))!;
}

type RecordedRun = RunInput & { readonly id: string; readonly resultText: string };

/** What an earlier attempt may have stored, without its result: that may have megabytes. */
const RECORDED = {
  attempt: runs.attempt,
  runnerId: runs.runnerId,
  deviceKey: runs.deviceKey,
  startedAtMs: runs.startedAtMs,
  endedAtMs: runs.endedAtMs,
};

/**
 * Stores a run and returns the stored one. An existing run stays: a resent outcome keeps its time, and an earlier
 * attempt, whose lease was over before its end was recorded, its result.
 */
export async function recordRun(db: ProjectDatabase, input: RunInput): Promise<RecordedRun> {
  const { spec, resultText = JSON.stringify(input.result) } = input;
  const id = runIdOf(input.jobId);
  const row = { ...input, id, project: db.project, kind: spec.kind, spec: JSON.stringify(spec), result: resultText };
  await db.insert(runs).values(row).onConflictDoNothing();
  const [stored] = await db.select(RECORDED).from(runs).where(isRun(db, id));
  if (stored === undefined || stored.attempt === input.attempt) return { ...input, id, resultText, ...stored };
  const [earlier] = await db.select({ result: runs.result }).from(runs).where(isRun(db, id));
  const result = earlier === undefined ? input.result : JobResult.parse(JSON.parse(earlier.result));
  return { ...input, id, result, resultText: JSON.stringify(result), ...stored };
}

/** A job's run, without the fields that only the bucket has. */
export async function findRun(
  db: ProjectDatabase,
  id: string,
): Promise<Omit<JobRun, "traceBytes" | "samplesBytes"> | null> {
  const [row] = await db.select().from(runs).where(isRun(db, id));
  if (row === undefined) return null;
  const { jobId, attempt, runnerId, deviceKey, startedAtMs, endedAtMs } = row;
  return {
    origin: "job",
    id,
    jobId,
    attempt,
    runnerId,
    deviceKey,
    spec: JobSpec.parse(JSON.parse(row.spec)),
    result: JobResult.parse(JSON.parse(row.result)),
    startedAt: toInstant(startedAtMs),
    endedAt: toInstant(endedAtMs),
  };
}

/** One execution of a job: only one attempt becomes its run, and each may have a trace. */
type Traced = Pick<JobRun, "id" | "attempt">;

function keyOf({ id, attempt }: Traced): string {
  return `traces/${id}/${attempt}.json`;
}

/** Stores a trace, which is JSON text; storing it again changes nothing. */
export async function putTrace(bucket: R2Bucket, run: Traced, text: string): Promise<void> {
  await bucket.put(keyOf(run), text, { httpMetadata: { contentType: "application/json" } });
}

export async function getTrace(bucket: R2Bucket, run: Traced): Promise<R2ObjectBody | null> {
  return bucket.get(keyOf(run));
}

/** Size of a run's trace in bytes; null where there is none. */
export async function measureTrace(bucket: R2Bucket, run: Traced): Promise<number | null> {
  return (await bucket.head(keyOf(run)))?.size ?? null;
}
