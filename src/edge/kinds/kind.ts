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
  /** Runners that may take the job by `runnerId` and `profile`. */
  readonly candidates: readonly { readonly id: string; readonly capabilities: Capabilities }[];
  /** Capabilities of all runners that ever connected. */
  readonly announced: readonly Capabilities[];
}

/** A spec with its mistakes. */
export interface Prepared<Spec extends JobSpec = JobSpec> {
  readonly spec: Spec;
  readonly errors: FieldError[];
}

/** The fields of a job that say where its kernel may run. */
export type KernelTarget = Pick<BenchmarkSpec, "kernel" | "reference" | "variant" | "deviceKey" | "onDeviceFailure">;

export type OfferContext = Pick<Offer, "model" | "program" | "environment" | "edge">;

/** A job's run as it is stored. */
export type StoredRun<Spec extends JobSpec = JobSpec> = Omit<RunInput, "spec" | "result"> & {
  readonly spec: Spec;
  readonly result: ResultOf<Spec>;
};

/** The fields that all measurements of a run share. */
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
  /** Where the model is placed; null where there is nothing new to measure. */
  readonly placement: PlacementRule | null;
}

/** A kind of job at the edge. Absent members mean what `registry.ts` says of them. */
export interface JobKindModule<Spec extends JobSpec> {
  /** Checks what the schema cannot, and fills in what the input leaves to the edge. */
  readonly prepare: (input: InputOf<Spec>, surroundings: JobSurroundings) => Promise<Prepared<Spec>>;
  /** Where the kernel that the job runs may run; null of a job that is about a model. */
  readonly target?: (spec: Spec) => KernelTarget | null;
  /** Whether a runner has the devices for it now. */
  readonly mayRun?: (spec: Spec, capabilities: Capabilities, nowMs: number) => boolean;
  /** Whether its failure may speak against the runner: the job brought nothing of its sender's. */
  readonly judgesRunner?: (spec: Spec) => boolean;
  /** What the runner needs beside the spec. The project's right to it was checked on acceptance. */
  readonly offer?: (db: Database, spec: Spec, runnerId: string) => Promise<OfferContext>;
  /** Digests of the files that the job begins with. */
  readonly files?: (spec: Spec) => readonly (string | null | undefined)[];
  /** Whether a trace beside the result is kept. */
  readonly isTraced?: (spec: Spec) => boolean;
  /** Whether a result of the kind is one of this very job. */
  readonly answers: (spec: Spec, result: ResultOf<Spec>) => boolean;
  /** All distributions in a result: an unsound one would spoil its series. */
  readonly distributions?: (result: ResultOf<Spec>) => Distribution[];
  /** Makes the file that the job left a version or a variant. Doing it twice changes nothing. */
  readonly publish?: (
    env: ProjectEnv,
    run: StoredRun<Spec>,
    result: ResultOf<Spec>,
  ) => Promise<Published<ResultOf<Spec>> | null>;
  /** Stores what a result is beside its run; null where the run is all. Doing it twice changes nothing. */
  readonly store: ((env: ProjectEnv, run: StoredRun<Spec>, context: RunContext) => Promise<void>) | null;
  /** The version that is served otherwise on the runner since this result. */
  readonly configured?: (result: ResultOf<Spec>) => string | null;
  /** Writes down why the job failed. */
  readonly noteFailure?: (env: ProjectEnv, spec: Spec, problem: Problem) => Promise<void>;
  /** The verdict that lists show, as SQL over the JSON column `result`. */
  readonly verdictSql?: string;
}
