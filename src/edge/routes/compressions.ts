import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { type HeldOut, readHeldOut } from "../../protocol/held-out-file.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { ModelVersion } from "../../protocol/model.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { type AppEnv, bind, invalidRequest, unsupportedMediaType } from "../http/bind.ts";
import { mediaTypeOf, readBody } from "../http/read-body.ts";
import { checkHeldOut } from "../onnx/check-held-out.ts";
import { digestOf, putArtifact } from "../store/artifact-store.ts";
import { setVersionData } from "../store/version-data-store.ts";
import { jobQueue } from "../stubs.ts";
import { mustFindModel, mustFindVersion } from "./must-find-model.ts";
import { submitJob } from "./submit-job.ts";

const MEDIA_TYPE = "application/octet-stream";

/** Smaller variants of versions, and the data that they are measured on. */
export function bindCompressions(app: Hono<AppEnv>): void {
  bind(app, endpoints.createVariant, async ({ c, env, principal, params, headers, body }) => {
    const { name: model } = await mustFindModel(env, params.model);
    const submitter = { c, env, principal, key: headers["idempotency-key"] };
    return submitJob(submitter, { kind: "compression", model, ...body });
  });

  bind(app, endpoints.putVersionData, async ({ c, env, params }) => {
    const mediaType = mediaTypeOf(c.req.raw);
    if (mediaType !== MEDIA_TYPE) throw unsupportedMediaType(mediaType, [MEDIA_TYPE]);
    const bytes = await readBody(c.req.raw, LIMITS.heldOutBytes);
    const heldOut = parseHeldOut(bytes);
    const version = await mustFindVersion(env, params.model, params.version);
    const errors = checkHeldOut(version, heldOut);
    if (errors.length > 0) throw invalidRequest(errors);
    const digest = await digestOf(bytes.buffer);
    await refuseWhileUsed(env, version, digest);
    await putArtifact(env.ARTIFACTS, digest, bytes.buffer);
    const { rows, metric } = heldOut;
    await setVersionData(env, version.id, { digest, sizeBytes: bytes.byteLength, rows, metric });
    return mustFindVersion(env, params.model, params.version);
  });
}

/** Other data would take away what a compression has yet to read. */
async function refuseWhileUsed(env: ProjectEnv, { data }: ModelVersion, digest: string): Promise<void> {
  if (data === null || data.digest === digest) return;
  const jobId = await jobQueue(env).findMeasuredOn(env.project, data.digest);
  if (jobId === null) return;
  throw new ProblemError("conflict", `${jobId} is measured on the data that are there: wait for it, or cancel it.`);
}

function parseHeldOut(bytes: Uint8Array): HeldOut {
  try {
    return readHeldOut(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalidRequest([{ pointer: "#", message: `is no held-out part: ${error.message}` }]);
  }
}
