import type { Context, Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Job, JobInput } from "../../protocol/jobs/job.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type AppEnv, bind, type HandlerInput } from "../http/bind.ts";
import { decodeCursor } from "../store/cursor.ts";
import { jobQueue, type ProjectEnv } from "../config.ts";
import { openStream } from "../queue/open-stream.ts";
import { submitJob } from "../queue/submit-job.ts";

export function bindJobs(app: Hono<AppEnv>): void {
  bind(app, endpoints.createJob, (call) => submit(call, call.body));

  bind(app, endpoints.listJobs, async ({ env, query }) => {
    // Decoded on this side: an error that the queue throws arrives from its RPC as `internal`.
    const beforeId = query.cursor === undefined ? null : String(decodeCursor(query.cursor, 1)[0]);
    return jobQueue(env).list(env.project, query, beforeId);
  });
  bind(app, endpoints.getJob, ({ c, env, params: { id } }) => answerWhole(c, env, id, 200));
  bind(app, endpoints.cancelJob, async ({ c, env, params: { id } }) => {
    const job = mustFind(id, await jobQueue(env).cancel(env.project, id));
    return job.state === "succeeded" ? answerWhole(c, env, id, 200) : job;
  });

  bind(app, endpoints.streamJobEvents, async ({ c, env, params: { id } }) =>
    mustFind(id, await openStream(env, `jobs/${id}`, c.req.header("last-event-id"))),
  );
}

/** Queues a job, with its address in the reply's head. */
export async function submit(
  {
    c,
    env,
    principal,
    headers,
    scope,
  }: HandlerInput<unknown, unknown, { "idempotency-key"?: string | undefined }, unknown>,
  input: JobInput,
): Promise<Job | Response> {
  const job = await submitJob(env, { principal, key: headers["idempotency-key"], scope }, input);
  c.header("location", `/v1/jobs/${job.id}`);
  return job.state === "succeeded" ? answerWhole(c, env, job.id, 202) : job;
}

/** A job with its result, which stays the bytes that the queue keeps. */
async function answerWhole(c: Context<AppEnv>, env: ProjectEnv, id: string, status: 200 | 202): Promise<Response> {
  const bytes = mustFind(id, await jobQueue(env).getText(env.project, id));
  return c.body(bytes, status, { "content-type": "application/json" });
}

function mustFind<Found>(id: string, found: Found | null): Found {
  if (found === null) throw new ProblemError("not-found", `There is no job ${id}.`);
  return found;
}
