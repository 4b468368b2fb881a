import type { Capabilities } from "../../protocol/hardware.ts";
import type { RolloutEnvironment } from "../../protocol/rollout-environment.ts";
import type { ProjectDatabase } from "../store/database.ts";
import { findEnvironment, isEnvironmentId } from "../store/environment-store.ts";

/** An environment that a job names. */
export interface ResolvedEnvironment {
  /** What the job's spec says: the name of one that runners announce, the id of one that was submitted. */
  readonly key: string;
  readonly environment: RolloutEnvironment;
}

/** The environment of a name or id: one that runners announce comes first. Null where there is none. */
export async function resolveEnvironment(
  db: ProjectDatabase,
  nameOrId: string,
  announced: readonly Capabilities[],
): Promise<ResolvedEnvironment | null> {
  const known = announced.flatMap(({ environments = [] }) => environments).find(({ name }) => name === nameOrId);
  if (known !== undefined) return { key: known.name, environment: known };
  const submitted = await findEnvironment(db, nameOrId);
  if (submitted === null) return null;
  const { wgsl: _, stateWords: __, ...environment } = submitted.definition;
  return { key: submitted.id, environment: { ...environment, digest: submitted.digest } };
}

/** Whether a runner can run an environment by the key that a spec has: it announces it, or takes submitted programs. */
export function takesEnvironment(
  key: string,
  { environments = [], userKernels, devices }: Pick<Capabilities, "environments" | "userKernels" | "devices">,
): boolean {
  if (!isEnvironmentId(key)) return environments.some(({ name }) => name === key);
  return userKernels === true && devices.some(({ backends }) => backends.includes("wgsl"));
}
