import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import type { JobKind, JobResult, JobSpec } from "../../protocol/jobs/job.ts";
import type { Problem } from "../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../config.ts";
import { isSoundDistribution } from "../history/soundness.ts";
import type { Database } from "../store/database.ts";
import { benchmark } from "./benchmark.ts";
import { calibration } from "./calibration.ts";
import { compression } from "./compression.ts";
import { consensus } from "./consensus.ts";
import { evaluation } from "./evaluation/evaluation.ts";
import { evolution } from "./evolution.ts";
import type { JobKindModule, KernelTarget, OfferContext } from "./kind.ts";
import { optimisation } from "./optimisation/optimisation.ts";
import { probe } from "./probe.ts";
import { canRunNow } from "./subjects/kernel-devices.ts";
import { throughput } from "./throughput.ts";
import { training } from "./training/training.ts";
import { tuning } from "./tuning/tuning.ts";
import { validation } from "./validation/validation.ts";

const KINDS: { readonly [Kind in JobKind]: JobKindModule<Extract<JobSpec, { kind: Kind }>> } = {
  benchmark,
  throughput,
  calibration,
  tuning,
  validation,
  optimisation,
  probe,
  evaluation,
  training,
  evolution,
  consensus,
  compression,
};

/** The module of a job's kind. */
export function kindOf<Spec extends JobSpec>({ kind }: Pick<Spec, "kind">): JobKindModule<Spec> {
  // A key and its module belong together; the compiler cannot derive that for a union.
  return KINDS[kind] as unknown as JobKindModule<Spec>;
}

/** Devices on which a job's kernel may run; null for a job without a kernel, or about a model. */
export function kernelTargetOf(spec: JobSpec): KernelTarget | null {
  return kindOf(spec).target?.(spec) ?? null;
}

/** Whether a runner now has a device for a job; every runner has one for a job that names neither kernel nor device. */
export function mayRun(spec: JobSpec, capabilities: Capabilities, nowMs: number): boolean {
  const own = kindOf(spec).mayRun;
  if (own !== undefined) return own(spec, capabilities, nowMs);
  const target = kernelTargetOf(spec);
  return target === null || canRunNow(target, capabilities, nowMs);
}

/** Whether a failure of a job counts against its runner. */
export function judgesRunner(spec: JobSpec): boolean {
  return kindOf(spec).judgesRunner?.(spec) ?? false;
}

/** Data that a runner needs beside a job's spec. */
export async function readOfferContext(db: Database, spec: JobSpec, runnerId: string): Promise<OfferContext> {
  return (await kindOf(spec).offer?.(db, spec, runnerId)) ?? { model: null };
}

/** Whether a job has this input file. */
export function holdsFile(spec: JobSpec, digest: string): boolean {
  return kindOf(spec).files?.(spec).includes(digest) ?? false;
}

/**
 * Whether a result belongs to its job, with distributions that can be read and merged: a bad one would spoil its
 * series, and one of another subject could never be stored.
 */
export function isSoundResult(spec: JobSpec, result: JobResult): boolean {
  if (result.kind !== spec.kind) return false;
  const { answers, distributions } = kindOf(spec);
  return answers(spec, result) && (distributions?.(result) ?? []).every(isSoundDistribution);
}

/** Records why a job failed, if its kind keeps that beside the job. */
export async function noteFailure(env: ProjectEnv, spec: JobSpec, problem: Problem): Promise<void> {
  await kindOf(spec).noteFailure?.(env, spec, problem);
}

const VERDICTS = Object.entries(KINDS).flatMap(([kind, { verdictSql }]) =>
  verdictSql === undefined ? [] : [`when kind = '${kind}' then ${verdictSql}`],
);

/** The verdict of a job in a list, as SQL: null for kinds without verdicts, and without a result. */
export const VERDICT_SQL = `case when result is null then null ${VERDICTS.join(" ")} end`;
