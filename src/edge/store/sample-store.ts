import type { RunSamples } from "../../protocol/run-samples.ts";

/** Which samples: of a run, and of the attempt or the content that became it. */
export interface SamplesOf {
  readonly runId: string;
  readonly part: string;
}

function keyOf({ runId, part }: SamplesOf): string {
  return `samples/${runId}/${part}.json.gz`;
}

/** Stores raw samples compressed, and tells how many bytes they take; storing them again changes nothing. */
export async function putSamples(bucket: R2Bucket, of: SamplesOf, samples: RunSamples): Promise<number> {
  const packed = new Blob([JSON.stringify(samples)]).stream().pipeThrough(new CompressionStream("gzip"));
  // R2 wants to know the length of what comes.
  const bytes = await new Response(packed).arrayBuffer();
  await bucket.put(keyOf(of), bytes, {
    httpMetadata: { contentType: "application/json", contentEncoding: "gzip" },
  });
  return bytes.byteLength;
}

/** The samples as JSON text; null where there are none. */
export async function getSamples(bucket: R2Bucket, of: SamplesOf): Promise<ReadableStream | null> {
  const object = await bucket.get(keyOf(of));
  return object === null ? null : object.body.pipeThrough(new DecompressionStream("gzip"));
}

/** Size of a run's samples as they are kept, in bytes; null where there are none. */
export async function measureSamples(bucket: R2Bucket, of: SamplesOf): Promise<number | null> {
  return (await bucket.head(keyOf(of)))?.size ?? null;
}
