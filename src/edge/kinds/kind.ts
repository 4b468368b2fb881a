import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import type { Profile } from "../../protocol/fleet/profile.ts";
import type { PlacementRule } from "../../protocol/fleet/serving.ts";
import type { BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import type { JobInput, JobResult, JobSpec } from "../../protocol/jobs/job.ts";
import type { Offer } from "../../protocol/link.ts";
import type { Distribution } from "../../protocol/wire/distribution.ts";
import type { FieldError, Problem } from "../../protocol/wire/problem.ts";
import type { ProjectEnv } from "../config.ts";
import type { Database, ProjectDatabase } from "../store/database.ts";
import type { RunInput } from "../store/history/run-store.ts";

export type InputOf<Spec extends JobSpec> = Extract<JobInput, { kind: Spec["kind"] }>;
export type ResultOf<Spec extends JobSpec> = Extract<JobResult, { kind: Spec["kind"] }>;

/** The state of the project and its fleet in which a job is prepared. */
export interface JobSurroundings {
  readonly db: ProjectDatabase;
  readonly bucket: R2Bucket;
  readonly profile: Profile | null;
  /** Runners that may take the job, as selected by `runnerId` and `profile`. */
  readonly candidates: readonly { readonly id: string; readonly capabilities: Capabilities }[];
  /** Capabilities of all runners that ever connected. */
  readonly announced: readonly Capabilities[];
}

/** A spec and its faults. */
export interface Prepared<Spec extends JobSpec = JobSpec> {
  readonly spec: Spec;
  readonly errors: FieldError[];
}

/** Fields of a job that restrict where its kernel may run. */
export type KernelTarget = Pick<BenchmarkSpec, "kernel" | "reference" | "variant" | "deviceKey" | "onDeviceFailure">;

export type OfferContext = Pick<Offer, "model" | "program" | "environment" | "edge">;

/** A job's run as it is stored. */
export type StoredRun<Spec extends JobSpec = JobSpec> = Omit<RunInput, "spec" | "result" | "resultText"> & {
  readonly spec: Spec;
  readonly result: ResultOf<Spec>;
};

/** Fields that all measurements of a run share. */
export interface RunContext {
  readonly project: string;
  readonly runId: string;
  readonly atMs: number;
  readonly label: string | null;
}

/** A result whose file became a version or a variant of a model. */
export interface Published<Result extends JobResult = JobResult> {
  readonly result: Result;
  readonly modelVersionId: string;
  /** The model's placement rule; null if there is nothing new to measure. */
  readonly placement: PlacementRule | null;
}

/** A kind of job at the edge; `registry.ts` describes the meaning of absent members. */
export interface JobKindModule<Spec extends JobSpec> {
  /** Checks the rules that the schema cannot express, and fills in the fields that the input leaves to the edge. */
  readonly prepare: (input: InputOf<Spec>, surroundings: JobSurroundings) => Promise<Prepared<Spec>>;
  /** Devices on which the job's kernel may run; null for a job about a model. */
  readonly target?: (spec: Spec) => KernelTarget | null;
  /** Whether a runner now has the devices for the job. */
  readonly mayRun?: (spec: Spec, capabilities: Capabilities, nowMs: number) => boolean;
  /** Whether a failure counts against the runner: the job contains nothing that its sender submitted. */
  readonly judgesRunner?: (spec: Spec) => boolean;
  /** Data that the runner needs beside the spec. The project's access to it was checked on acceptance. */
  readonly offer?: (db: Database, spec: Spec, runnerId: string) => Promise<OfferContext>;
  /** Digests of the job's input files. */
  readonly files?: (spec: Spec) => readonly (string | null | undefined)[];
  /** Whether a trace is stored beside the result. */
  readonly isTraced?: (spec: Spec) => boolean;
  /** Whether a result of the kind belongs to this job. */
  readonly answers: (spec: Spec, result: ResultOf<Spec>) => boolean;
  /** All distributions in a result, to be checked: an unsound one would spoil its series. */
  readonly distributions?: (result: ResultOf<Spec>) => Distribution[];
  /** Makes the job's file a version or a variant of a model. Idempotent. */
  readonly publish?: (
    env: ProjectEnv,
    run: StoredRun<Spec>,
    result: ResultOf<Spec>,
  ) => Promise<Published<ResultOf<Spec>> | null>;
  /** Stores the data that a result has beside its run; null if the run is all. Idempotent. */
  readonly store: ((env: ProjectEnv, run: StoredRun<Spec>, context: RunContext) => Promise<void>) | null;
  /** Version whose serving configuration on the runner this result changed. */
  readonly configured?: (result: ResultOf<Spec>) => string | null;
  /** Records why the job failed. */
  readonly noteFailure?: (env: ProjectEnv, spec: Spec, problem: Problem) => Promise<void>;
  /** The verdict in lists, as SQL over the JSON column `result`. */
  readonly verdictSql?: string;
}
