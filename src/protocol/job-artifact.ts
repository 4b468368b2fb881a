import { z } from "@hono/zod-openapi";
import { LIMITS } from "./limits.ts";

/** Files that a job may leave beside its result, by what is in them. */
export const JobArtifactName = z
  .enum(["episodes", "checkpoint", "policy", "population", "archive", "variant", "replay"])
  .openapi("JobArtifactName");
export type JobArtifactName = z.infer<typeof JobArtifactName>;

/** What the file may be, as it is sent and as it is given out again. */
export const ARTIFACT_MEDIA_TYPES = ["application/octet-stream", "application/json", "application/vnd.apache.parquet"];

const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 hexadecimal digits");

/** A file that a runner left for a job; the latest of its name is kept. */
export const JobArtifact = z
  .object({
    name: JobArtifactName,
    digest: Digest,
    sizeBytes: z.number().int().min(0).max(LIMITS.jobArtifactBytes),
    mediaType: z.string().max(128),
  })
  .openapi("JobArtifact");
export type JobArtifact = z.infer<typeof JobArtifact>;

export const JobArtifactList = z.object({ items: z.array(JobArtifact) }).openapi("JobArtifactList");

/** The lease that a runner reads and writes a job's files under. */
export const LeaseQuery = z.object({
  epoch: z.coerce.number().int().min(1).openapi({ description: "Epoch of the lease under which the runner works" }),
});

/** The body is the file itself. */
export const JobArtifactUploadQuery = LeaseQuery.extend({
  digest: Digest.openapi({ description: "SHA-256 of the body" }),
});
