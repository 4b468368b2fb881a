import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { ARTIFACT_MEDIA_TYPES, type JobArtifact, type JobArtifactName } from "../../protocol/jobs/job-artifact.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { Lease } from "../../protocol/link.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { jobQueue, type ProjectEnv, scopeEnv } from "../config.ts";
import { answerArtifact } from "../http/answers.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { checkHead, storeBody } from "../http/store-body.ts";
import { findJobArtifact, listJobArtifacts, putArtifact, recordJobArtifact } from "../store/artifact-store.ts";
import { openProject } from "../store/database.ts";
import { mustHaveRoomForFile } from "../store/quotas/quota-problem.ts";

/** Files of jobs: runners write them and resume from them, callers read them. */
export function bindJobArtifacts(app: Hono<AppEnv>): void {
  bind(app, endpoints.putJobArtifact, async ({ c, env, principal, params: { id, name }, query }) => {
    const runnerId = principal?.id ?? "";
    const lease = { jobId: id, epoch: query.epoch };
    const ofJob = await mustHold(env, runnerId, lease);
    const limits = { mediaTypes: ARTIFACT_MEDIA_TYPES, maxBytes: LIMITS.jobArtifactBytes };
    const { sizeBytes: comingBytes } = await checkHead(c.req.raw, limits);
    await mustHaveRoomForFile(ofJob, query.digest, comingBytes);
    const { mediaType, sizeBytes } = await storeBody(c.req.raw, query.digest, limits, (bytes) =>
      putArtifact(env.ARTIFACTS, query.digest, bytes),
    );
    // A lease may have ended during the upload: the next runner's file is the later one.
    await mustHold(env, runnerId, lease);
    const artifact: JobArtifact = { name, digest: query.digest, sizeBytes, mediaType };
    await recordJobArtifact(ofJob, id, artifact, Date.now());
    return artifact;
  });

  bind(app, endpoints.fetchJobArtifact, async ({ c, env, principal, params: { id, name }, query }) => {
    const ofJob = await mustHold(env, principal?.id ?? "", { jobId: id, epoch: query.epoch });
    return answerArtifact(c, await mustFind(ofJob, id, name));
  });

  bind(app, endpoints.listJobArtifacts, async ({ env, params: { id } }) => {
    const items = await listJobArtifacts(openProject(env), id);
    // Files may outlive their job in the queue.
    if (items.length === 0 && (await jobQueue(env).get(env.project, id)) === null) {
      throw new ProblemError("not-found", `There is no job ${id}.`);
    }
    return { items };
  });

  bind(app, endpoints.getJobArtifact, async ({ c, env, params: { id, name } }) =>
    answerArtifact(c, await mustFind(env, id, name)),
  );
}

/** Bindings for the job's project, which may differ from the runner's. */
async function mustHold(env: ProjectEnv, runnerId: string, lease: Lease): Promise<ProjectEnv> {
  const project = await jobQueue(env).projectOfLease(runnerId, lease);
  if (project !== null) return scopeEnv(env, project);
  throw new ProblemError("not-found", `The job ${lease.jobId} is not this runner's under epoch ${lease.epoch}.`);
}

async function mustFind(env: ProjectEnv, jobId: string, name: JobArtifactName): Promise<JobArtifact> {
  const artifact = await findJobArtifact(openProject(env), jobId, name);
  if (artifact === null) throw new ProblemError("not-found", `The job ${jobId} has no file '${name}'.`);
  return artifact;
}
