import type { JobInput, JobSpec } from "../../protocol/jobs/job.ts";
import { invalidRequest } from "../../protocol/wire/parse-input.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import type { Profile } from "../../protocol/fleet/profile.ts";
import { fitProfile } from "../store/fleet/profile-fit.ts";
import type { ProjectEnv } from "../config.ts";
import { openProject } from "../store/database.ts";
import { withCapabilities } from "../store/fleet/capability-cache.ts";
import { kernelTargetOf, kindOf } from "./registry.ts";
import { refuseQuarantined } from "./subjects/kernel-devices.ts";

/** A runner that works for the project. */
interface InSight {
  readonly id: string;
  readonly version: number;
}

/**
 * Checks the rules that the schema cannot express and the existence of what a job names, and fills in the fields left
 * to the edge. Throws `invalid-request` with every wrong field.
 */
export async function prepareSpec(
  env: ProjectEnv,
  input: JobInput,
  profile: Profile | null,
  runners: readonly InSight[],
): Promise<JobSpec> {
  const db = openProject(env);
  const errors: FieldError[] = [];
  if (input.profile !== undefined && profile === null) {
    errors.push({ pointer: "#/profile", message: "is not a hardware profile" });
  }
  const { runnerId } = input;
  if (runnerId !== undefined && !runners.some(({ id }) => id === runnerId)) {
    errors.push({ pointer: "#/runnerId", message: "is not a registered runner" });
  }
  const all = await withCapabilities(db, runners);
  const named = runnerId === undefined ? all : all.filter(({ id }) => id === runnerId);
  const candidates = named.filter(({ capabilities }) => profile === null || fitProfile(profile, capabilities).fits);
  const announced = all.map(({ capabilities }) => capabilities);
  const surroundings = { db, bucket: env.ARTIFACTS, profile, candidates, announced };
  const prepared = await kindOf(input).prepare(input, surroundings);
  errors.push(...prepared.errors);
  if (errors.length > 0) throw invalidRequest(errors);
  const target = kernelTargetOf(prepared.spec);
  const able = candidates.map(({ capabilities }) => capabilities);
  if (target !== null) refuseQuarantined(target, able, Date.now());
  return prepared.spec;
}
