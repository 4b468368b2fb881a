import type { JobRun } from "../../protocol/run.ts";

/** Which execution of a job: only one attempt becomes its run, and each may have left a trace. */
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
