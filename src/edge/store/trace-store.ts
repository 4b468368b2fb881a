/** A trace is kept under its run: there is at most one. */
function keyOf(runId: string): string {
  return `traces/${runId}.json`;
}

/** Stores a run's trace, which is JSON text; storing it again changes nothing. */
export async function putTrace(bucket: R2Bucket, runId: string, text: string): Promise<void> {
  await bucket.put(keyOf(runId), text, { httpMetadata: { contentType: "application/json" } });
}

export async function getTrace(bucket: R2Bucket, runId: string): Promise<R2ObjectBody | null> {
  return bucket.get(keyOf(runId));
}

/** Size of a run's trace in bytes; null where there is none. */
export async function measureTrace(bucket: R2Bucket, runId: string): Promise<number | null> {
  return (await bucket.head(keyOf(runId)))?.size ?? null;
}
