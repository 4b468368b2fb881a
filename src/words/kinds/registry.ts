import type { Job, JobKind, JobResult, JobSpec, JobSummary } from "../../protocol/jobs/job.ts";
import { JOB_STATES, type JobNames } from "../jobs.ts";
import { describeSizes, PAGE_NUMBERS } from "../numbers.ts";
import type { Tone } from "../tone.ts";
import { describeRequirement, OUTCOMES } from "../validation.ts";
import { benchmark } from "./benchmark.ts";
import { calibration } from "./calibration.ts";
import { compression } from "./compression.ts";
import { consensus } from "./consensus.ts";
import { evaluation } from "./evaluation.ts";
import { evolution } from "./evolution.ts";
import {
  describePlace,
  type Figures,
  type KindWords,
  type ResultLink,
  type ResultWords,
  type Verdict,
} from "./kind.ts";
import { optimisation } from "./optimisation.ts";
import { probe } from "./probe.ts";
import { throughput } from "./throughput.ts";
import { training } from "./training.ts";
import { tuning } from "./tuning.ts";
import { validation } from "./validation.ts";

const KINDS: { readonly [Kind in JobKind]: KindWords<Kind> } = {
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

/** The words of a kind; a spec and a result of one job are of the same kind. */
function wordsOf({ kind }: JobSpec | JobResult): KindWords<JobKind> {
  return KINDS[kind] as unknown as KindWords<JobKind>;
}

/** The page's figures. */
export const PAGE_FIGURES: Figures = { ...PAGE_NUMBERS, sizes: describeSizes, requirement: describeRequirement };

/** Subject of a job. Model versions are named if their names are known. */
export function nameSpec(spec: JobSpec, names: JobNames): string {
  return wordsOf(spec).name(spec, names);
}

/** Settings of a job, in few words. */
export function describeSpec(spec: JobSpec, figures: Figures = PAGE_FIGURES): string {
  return [...wordsOf(spec).parts(spec, figures), spec.label].filter(Boolean).join(" · ");
}

/** Requirements of a job with a verdict. */
export function describeWanted(spec: JobSpec, figures: Figures = PAGE_FIGURES): string {
  return wordsOf(spec).wanted?.(spec, figures) ?? "";
}

/** A result as people read it, with the device where it was measured on one. */
export function describeResult(result: JobResult, figures: Figures = PAGE_FIGURES): ResultWords {
  const words = wordsOf(result).result(result, figures);
  if (!("environment" in result)) return words;
  return { ...words, facts: [...words.facts, ["ran on", describePlace(result.environment)]] };
}

/** The verdict of a job that ended well; one that judges nothing passes. */
export function verdictOf({ spec, result }: Pick<Job, "spec" | "result">): Verdict {
  return result === null ? "pass" : (wordsOf(result).verdict?.(result, spec) ?? "pass");
}

/** Outcome of a job, or its progress; the verdict for a kind that has one. */
export function judgeJob({
  state,
  verdict,
  spec,
}: Pick<JobSummary, "state" | "verdict" | "spec">): readonly [Tone, string] {
  if (state === "failed") return ["bad", "did not finish"];
  if (state !== "succeeded") return JOB_STATES[state];
  return verdict === null ? ["good", "done"] : (wordsOf(spec).outcomes ?? OUTCOMES)[verdict];
}

/** Links to more of a job's result; empty for a job without a result. */
export function listResultLinks(
  { id, spec, runId, runnerId, result }: Pick<Job, "id" | "spec" | "runId" | "runnerId" | "result">,
  names: JobNames,
): readonly ResultLink[] {
  if (result === null || runId === null) return [];
  return wordsOf(spec).links({ id, spec, runId, runnerId, result }, names);
}

/**
 * The input that asks for a job again: without what the edge filled in, which it finds anew. Requirements that were of a
 * set are those of then.
 */
export function askAgain(spec: JobSpec): object {
  return wordsOf(spec).again(spec);
}
