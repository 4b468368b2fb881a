import type { JobResult, JobSpec } from "../../protocol/jobs/job.ts";
import type { JobOutcome } from "../../protocol/link.ts";
import type { OptimisationResult } from "../../protocol/jobs/optimisation.ts";
import { createProblem, type Problem } from "../../protocol/wire/problem.ts";
import { type Env, type ProjectEnv, runnerLink, scopeEnv } from "../config.ts";
import type { ResolvedRule } from "../fleet/plan-runner.ts";
import { searchLanded } from "../history/detect/detect-landed.ts";
import { isSoundTrace, readSamples } from "../history/soundness.ts";
import { publishVariant, type PublishedVariant } from "../kinds/compression.ts";
import { isSoundResult } from "../kinds/sound-result.ts";
import { storeResult } from "../kinds/store-result.ts";
import { noteFailure } from "../kinds/subjects/submitted-kernel.ts";
import { publishPolicy, type PublishedPolicy } from "../kinds/training/publish-policy.ts";
import { openProject } from "../store/database.ts";
import { putSamples } from "../store/history/report-store.ts";
import { putTrace, runIdOf } from "../store/history/run-store.ts";
import { resolveRule } from "../store/models/version-store.ts";
import type { HeldJob, Results, SoundOutcome } from "./queue-parts.ts";

const UNSOUND = createProblem(
  "backend-failed",
  "The result is not one of this job, or holds no sound distributions, or its trace is none or too large.",
);

/** Results in the history and failures at their kernels. */
export class KeptResults implements Results {
  readonly #env: () => Env;
  readonly #calibrate: (project: string, modelVersionId: string, rule: ResolvedRule) => void;

  /** `calibrate` measures a new version everywhere that its rule places it. */
  constructor(env: () => Env, calibrate: (project: string, modelVersionId: string, rule: ResolvedRule) => void) {
    this.#env = env;
    this.#calibrate = calibrate;
  }

  judge(spec: JobSpec, outcome: JobOutcome["outcome"]): JobOutcome["outcome"] {
    if (!outcome.ok || (isSoundResult(spec, outcome.result) && isSoundTrace(outcome.trace))) return outcome;
    return { ok: false, problem: UNSOUND };
  }

  /**
   * Puts a sound result where it is kept, behind its trace, if the job asked for one, and its samples; a policy that
   * is to be served becomes a version first, and a compressed file a variant. Gives the result as it is kept.
   */
  async keep(
    { id: jobId, project, attempt, spec, runnerId }: HeldJob,
    { result, deviceKey, startedAt, trace, samples }: SoundOutcome,
    endedAtMs: number,
  ): Promise<JobResult> {
    const env = scopeEnv(this.#env(), project);
    const isTraced = spec.kind === "benchmark" && spec.trace;
    if (isTraced && trace !== undefined) await putTrace(env.ARTIFACTS, { id: runIdOf(jobId), attempt }, trace);
    if (samples !== undefined) await keepSamples(env, runIdOf(jobId), attempt, samples);
    const startedAtMs = Date.parse(startedAt);
    const published =
      (await publishPolicy(env, { jobId, spec, endedAtMs }, result)) ??
      (await publishVariant(env, { jobId, spec }, result));
    const kept = published?.result ?? result;
    const input = { jobId, attempt, runnerId, deviceKey, spec, result: kept, startedAtMs, endedAtMs };
    const stored = await storeResult(env, input);
    if (result.kind === "optimisation" && result.applied?.applied === true) await configure(env, runnerId, result);
    if (published !== null) await this.#measurePublished(env, published);
    return stored;
  }

  /** A job fails whether or not the database can write down why a kernel did. */
  async noteFailure({ project, spec }: HeldJob, problem: Problem): Promise<void> {
    try {
      await noteFailure(scopeEnv(this.#env(), project), spec, problem);
    } catch (error) {
      console.error(JSON.stringify({ event: "note-failure-failed", error: String(error) }));
    }
  }

  search(nowMs: number): Promise<unknown> {
    return searchLanded(this.#env(), nowMs);
  }

  /** As for a file that is uploaded. */
  async #measurePublished(
    env: ProjectEnv,
    { modelVersionId, placement }: PublishedPolicy | PublishedVariant,
  ): Promise<void> {
    if (placement === null) return;
    this.#calibrate(env.project, modelVersionId, await resolveRule(openProject(env), placement));
  }
}

/** What was applied counts once it is stored; a runner that is not there gets it with its next welcome. */
async function configure(env: Env, runnerId: string, { modelVersionId }: OptimisationResult): Promise<void> {
  if (modelVersionId === null) return;
  await runnerLink(env, runnerId)
    .configure(modelVersionId)
    .catch(() => undefined);
}

/** The result counts whether or not its samples can be kept. */
async function keepSamples(env: Env, runId: string, attempt: number, text: string): Promise<void> {
  const samples = readSamples(text);
  if (samples === null) return;
  try {
    await putSamples(env.ARTIFACTS, { runId, part: String(attempt) }, samples);
  } catch (error) {
    console.error(JSON.stringify({ event: "samples-lost", runId, error: String(error) }));
  }
}
