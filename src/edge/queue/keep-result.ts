import type { JobResult, JobSpec } from "../../protocol/jobs/job.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { createProblem, type Problem } from "../../protocol/wire/problem.ts";
import { type Env, type ProjectEnv, runnerLink, scopeEnv } from "../config.ts";
import { searchLanded } from "../history/detect/detect-landed.ts";
import { isSoundTrace, readSamples } from "../history/soundness.ts";
import { isSoundResult, noteFailure } from "../kinds/registry.ts";
import { keepResult, type KeptResult } from "../kinds/store-result.ts";
import { openProject } from "../store/database.ts";
import { putSamples } from "../store/history/report-store.ts";
import { runIdOf } from "../store/history/run-store.ts";
import { type ResolvedRule, resolveRule } from "../store/models/version-store.ts";
import type { HeldJob, Results, SoundOutcome } from "./queue-parts.ts";
import type { PassedOutcome } from "./queue-rpc.ts";
import { logFailure } from "../log-failure.ts";
import { endTurn } from "../turns.ts";

const UNSOUND = createProblem(
  "backend-failed",
  "The result is not one of this job, or holds no sound distributions, or its trace is none or too large.",
);

export const TOO_LARGE = createProblem(
  "payload-too-large",
  `A result may have ${LIMITS.jobResultBytes} bytes as JSON.`,
);
const encoder = new TextEncoder();
/** Characters kept of a failed job's detail, and of pointer and message of each of its errors; their number. */
const DETAIL_LENGTH = 4_096;
const ERROR_LENGTH = 256;
const KEPT_ERRORS = 32;

/** Stores results in the history, and failures with their kernels. */
export class KeptResults implements Results {
  readonly #env: () => Env;
  readonly #calibrate: (project: string, modelVersionId: string, rule: ResolvedRule) => void;

  /** `calibrate` measures a new version everywhere that its rule places it. */
  constructor(env: () => Env, calibrate: (project: string, modelVersionId: string, rule: ResolvedRule) => void) {
    this.#env = env;
    this.#calibrate = calibrate;
  }

  /** A result may have megabytes, and a trace beside it: each is parsed in a turn of its own. */
  async judge(spec: JobSpec, outcome: PassedOutcome["outcome"]) {
    if (!outcome.ok) return { ok: false, problem: clip(outcome.problem) } as const;
    const { resultText = JSON.stringify(outcome.result) } = outcome;
    if (encoder.encode(resultText).byteLength > LIMITS.jobResultBytes)
      return { ok: false, problem: TOO_LARGE } as const;
    await endTurn();
    // The link has checked it.
    const result = outcome.result ?? (JSON.parse(resultText) as JobResult);
    if (!isSoundResult(spec, result)) return { ok: false, problem: UNSOUND } as const;
    await endTurn();
    return isSoundTrace(outcome.trace)
      ? { ...outcome, result, resultText }
      : ({ ok: false, problem: UNSOUND } as const);
  }

  /**
   * Stores a sound result, after its trace, if the job asked for one, and its samples. First, a policy to be served
   * becomes a version, and a compressed file a variant. Returns the result as stored.
   */
  async keep(
    { id: jobId, project, attempt, spec, runnerId }: HeldJob,
    { result, resultText, deviceKey, startedAt, trace, samples }: SoundOutcome,
    endedAtMs: number,
  ): Promise<string> {
    await endTurn();
    const env = scopeEnv(this.#env(), project);
    if (samples !== undefined) await keepSamples(env, runIdOf(jobId), attempt, samples);
    const startedAtMs = Date.parse(startedAt);
    const run = { jobId, attempt, runnerId, deviceKey, spec, result, resultText, startedAtMs, endedAtMs };
    const { resultText: kept, configured, published } = await keepResult(env, run, trace);
    if (configured !== null) await configure(env, runnerId, configured);
    if (published !== null) await this.#measurePublished(env, published);
    return kept;
  }

  /** A job fails even if the database cannot record why a kernel did. */
  async noteFailure({ project, spec }: HeldJob, problem: Problem): Promise<void> {
    try {
      await noteFailure(scopeEnv(this.#env(), project), spec, problem);
    } catch (error) {
      logFailure("note-failure-failed", error);
    }
  }

  search(nowMs: number): Promise<unknown> {
    return searchLanded(this.#env(), nowMs);
  }

  /** Calibrates a published version, as for an uploaded file. */
  async #measurePublished(
    env: ProjectEnv,
    { modelVersionId, placement }: NonNullable<KeptResult["published"]>,
  ): Promise<void> {
    if (placement === null) return;
    this.#calibrate(env.project, modelVersionId, await resolveRule(openProject(env), placement));
  }
}

/** The stored configuration is in force; a runner that is offline gets it in its next welcome. */
async function configure(env: Env, runnerId: string, modelVersionId: string): Promise<void> {
  await runnerLink(env, runnerId)
    .configure(modelVersionId)
    .catch(() => undefined);
}

/** A runner's problem, within what a row, an event and each list of jobs should hold. */
function clip({ code, detail, errors, retryAfterMs }: Problem): Problem {
  const cut = (text: string) => text.slice(0, ERROR_LENGTH);
  const kept = errors?.slice(0, KEPT_ERRORS);
  return createProblem(code, detail.slice(0, DETAIL_LENGTH), {
    ...(kept && { errors: kept.map(({ pointer, message }) => ({ pointer: cut(pointer), message: cut(message) })) }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

/** The result counts even if its samples cannot be stored. */
async function keepSamples(env: Env, runId: string, attempt: number, text: string): Promise<void> {
  const samples = readSamples(text);
  if (samples === null) return;
  try {
    await putSamples(env.ARTIFACTS, { runId, part: String(attempt) }, JSON.stringify(samples));
  } catch (error) {
    logFailure("samples-lost", error, { runId });
  }
}
