import type { Env } from "./config.ts";

/** The queue of all jobs. One object serves until pools shard it (see docs/operations.md). */
export function jobQueue(env: Env) {
  return env.JOB_QUEUE.get(env.JOB_QUEUE.idFromName("main"));
}

/** The object that holds a runner's socket. */
export function runnerLink(env: Env, runnerId: string) {
  return env.RUNNER_LINK.get(env.RUNNER_LINK.idFromName(runnerId));
}
