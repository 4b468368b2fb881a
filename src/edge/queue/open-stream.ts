import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { jobQueue, type ProjectEnv } from "../config.ts";
import { mutable } from "../http/answers.ts";
import { readLimit } from "../store/quotas/quota-store.ts";

/**
 * An event stream of the queue: the project's `feed`, or that of `jobs/{id}` after an event. Null where there is no such
 * job. Throws `overloaded` where there are as many streams as may be.
 */
export async function openStream(env: ProjectEnv, what: string, afterEvent?: string): Promise<Response | null> {
  const most = await readLimit(env.DB, env.project, "eventStreams");
  const response = await jobQueue(env).fetch(`http://queue/${env.project}/${what}?most=${most}`, {
    headers: afterEvent === undefined ? {} : { "last-event-id": afterEvent },
  });
  if (response.ok) return mutable(response);
  if (response.status === 404) return null;
  const detail = `The project has the ${most} event streams of its quota \`eventStreams\` already, or all projects have ${LIMITS.streams}.`;
  throw new ProblemError("overloaded", detail, { retryAfterMs: 10_000 });
}
