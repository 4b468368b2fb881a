import type { Diagnosis } from "../../protocol/fleet/health.ts";
import type { RunnerMemory } from "../../protocol/fleet/memory.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type ProjectEnv, runnerLink } from "../config.ts";
import { diagnose } from "./diagnosis/diagnose.ts";
import { mustOwnRunner } from "./runner-rights.ts";

/** Memory report from the runner itself: a cached one does not show a present problem. */
export async function readMemory(env: ProjectEnv, id: string): Promise<RunnerMemory> {
  await mustOwnRunner(env, id);
  // An object that was restarted or moved rejects its calls.
  const outcome = await runnerLink(env, id)
    .reportMemory()
    .catch(() => null);
  if (outcome === null) throw linkBroke();
  if (!outcome.ok) throw new ProblemError(outcome.problem.code, outcome.problem.detail, outcome.problem);
  return { runnerId: id, reportedAt: new Date().toISOString(), ...outcome.answer };
}

/** Diagnosis from a report requested now, else from the runner's last report. */
export async function readDiagnosis(env: ProjectEnv, id: string): Promise<Diagnosis> {
  await mustOwnRunner(env, id);
  const health = await runnerLink(env, id)
    .reportHealth(id)
    .catch(() => null);
  if (health === null) throw linkBroke();
  if (!health.ok) throw new ProblemError(health.problem.code, health.problem.detail, health.problem);
  return diagnose(id, health);
}

/** Stream of a runner's reports, one per second. It survives a lost connection of the runner and reports it. */
export async function openLive(env: ProjectEnv, id: string, base: string): Promise<Response> {
  await mustOwnRunner(env, id);
  const response = await runnerLink(env, id)
    .fetch(new URL("/live", base))
    .catch(() => null);
  if (response === null) throw linkBroke();
  if (response.ok) return response;
  const detail = `${LIMITS.liveWatchers} watch this runner already.`;
  throw new ProblemError("overloaded", detail, { retryAfterMs: 10_000 });
}

function linkBroke(): ProblemError {
  return new ProblemError("runner-lost", "The runner's link broke.", { retryAfterMs: 1_000 });
}
