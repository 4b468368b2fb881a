import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import type { JobInput, JobSpec } from "../../protocol/jobs/job.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import type { Profile } from "../../protocol/fleet/profile.ts";
import { fitProfile } from "../store/fleet/profile-fit.ts";
import type { ProjectEnv } from "../config.ts";
import { type ProjectDatabase, openProject } from "../store/database.ts";
import { findKernel, isKernelId } from "../store/kernels/kernel-store.ts";
import { findModelVersion } from "../store/models/model-store.ts";
import { findRunner, readRunnerCapabilities } from "../store/fleet/runner-store.ts";
import { checkBenchmark, checkSubmitted } from "./subjects/check-benchmark.ts";
import { checkDevice, kernelTargetOf, refuseQuarantined } from "./subjects/kernel-devices.ts";
import { prepareCompression } from "./compression.ts";
import { prepareConsensus } from "./consensus.ts";
import { prepareEvaluation } from "./evaluation/prepare-evaluation.ts";
import { prepareEvolution } from "./evolution.ts";
import { prepareOptimisation } from "./optimisation/prepare-optimisation.ts";
import { prepareProbe } from "./probe.ts";
import { prepareTraining } from "./training/prepare-training.ts";
import { prepareValidation } from "./validation/prepare-validation.ts";

/** What every kind of job is prepared with. */
export interface JobSurroundings {
  readonly db: ProjectDatabase;
  readonly bucket: R2Bucket;
  readonly profile: Profile | null;
  /** Runners that may take the job by `runnerId` and `profile`. */
  readonly candidates: readonly { readonly id: string; readonly capabilities: Capabilities }[];
  /** What all runners said that ever connected. */
  readonly announced: readonly Capabilities[];
}

/**
 * Checks what the schema cannot, that what a job names is there, and gives the spec with what it leaves to the
 * edge. Throws `invalid-request` with every field that is wrong.
 */
export async function prepareSpec(env: ProjectEnv, input: JobInput, profile: Profile | null): Promise<JobSpec> {
  const db = openProject(env);
  const errors: FieldError[] = [];
  if (input.profile !== undefined && profile === null) {
    errors.push({ pointer: "#/profile", message: "is not a hardware profile" });
  }
  const runner = input.runnerId === undefined ? null : await findRunner(db, input.runnerId, []);
  if (input.runnerId !== undefined && runner === null) {
    errors.push({ pointer: "#/runnerId", message: "is not a registered runner" });
  }
  const all = await readRunnerCapabilities(db);
  const named = input.runnerId === undefined ? all : all.filter(({ id }) => id === input.runnerId);
  const candidates = named.filter(({ capabilities }) => profile === null || fitProfile(profile, capabilities).fits);
  const announced = all.map(({ capabilities }) => capabilities);
  const prepared = await prepareKind(input, { db, bucket: env.ARTIFACTS, profile, candidates, announced });
  errors.push(...prepared.errors);
  if (errors.length > 0) throw invalidRequest(errors);
  const target = kernelTargetOf(prepared.spec);
  if (target !== null) refuseQuarantined(target, capabilitiesOf(candidates), Date.now());
  return prepared.spec;
}

/** A spec with what is wrong with it. */
export interface Prepared<Spec extends JobSpec = JobSpec> {
  readonly spec: Spec;
  readonly errors: FieldError[];
}

function prepareKind(input: JobInput, surroundings: JobSurroundings): Promise<Prepared> {
  switch (input.kind) {
    case "benchmark":
    case "throughput":
    case "tuning":
      return prepareKernelJob(input, surroundings);
    case "calibration":
      return prepareCalibration(input, surroundings);
    case "validation":
      return prepareValidation(input, surroundings);
    case "optimisation":
      return prepareOptimisation(input, surroundings);
    case "probe":
      return prepareProbe(input, surroundings);
    case "evaluation":
      return prepareEvaluation(input, surroundings);
    case "training":
      return prepareTraining(input, surroundings);
    case "evolution":
      return prepareEvolution(input, surroundings);
    case "consensus":
      return prepareConsensus(input, surroundings);
    case "compression":
      return prepareCompression(input, surroundings);
  }
}

type KernelJob = Extract<JobSpec, { kind: "benchmark" | "throughput" | "tuning" }>;

async function prepareKernelJob(
  input: KernelJob,
  { db, candidates, announced }: JobSurroundings,
): Promise<Prepared<KernelJob>> {
  const { spec, errors } = await checkKernel(db, input, announced);
  if (spec.kind === "throughput" && spec.adaptMs + spec.measureMs >= spec.timeoutMs) {
    errors.push({ pointer: "#/timeoutMs", message: "must be longer than adaptMs and measureMs together" });
  }
  return { spec, errors: [...errors, ...checkDevice(spec, capabilitiesOf(candidates))] };
}

function capabilitiesOf(candidates: JobSurroundings["candidates"]): Capabilities[] {
  return candidates.map(({ capabilities }) => capabilities);
}

/** The kernel of a job: one that runners announce or, for a benchmark, one that was submitted. */
async function checkKernel(
  db: ProjectDatabase,
  spec: KernelJob,
  runners: readonly Capabilities[],
): Promise<Prepared<KernelJob>> {
  if (spec.kind !== "benchmark" || !isKernelId(spec.kernel)) return { spec, errors: checkBenchmark(spec, runners) };
  const submitted = await findKernel(db, spec.kernel);
  if (submitted === null) return { spec, errors: checkBenchmark(spec, runners) };
  return { spec: { ...spec, reference: submitted.reference }, errors: checkSubmitted(spec, submitted, runners) };
}

async function prepareCalibration(
  spec: Extract<JobSpec, { kind: "calibration" }>,
  { db }: JobSurroundings,
): Promise<Prepared> {
  const isKnown = (await findModelVersion(db, spec.modelVersionId)) !== null;
  return { spec, errors: isKnown ? [] : [{ pointer: "#/modelVersionId", message: "is not a version of a model" }] };
}
