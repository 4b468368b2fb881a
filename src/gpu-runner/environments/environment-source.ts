import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import { environmentNamed } from "../../../kernels/environments/registry.ts";
import type { OfferedEnvironment } from "../../protocol/policies/environment-definition.ts";
import { type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";

/** Where a device process has an environment from: a name of the house, or what a user submitted. Plain data. */
export type EnvironmentSource = string | OfferedEnvironment;

/** The environment that an offer's spec names. Fails with `not-found` where it is gone or not taken here. */
export function environmentSourceOf(
  key: string,
  { environment, userKernels }: { readonly environment: OfferedEnvironment | null; readonly userKernels: boolean },
): EnvironmentSource {
  if (environment === null) return environmentNamed(key).name;
  // None is offered then; this holds whatever an edge believes.
  if (!userKernels) throw new ProblemError("not-found", "This runner takes no environments that users submitted.");
  return environment;
}

/** An environment to be rolled out. */
export function openEnvironment(source: EnvironmentSource): EnvironmentSpec {
  if (typeof source === "string") return environmentNamed(source);
  const { wgsl, stateWords, ...environment } = source.definition;
  return {
    ...environment,
    digest: source.digest,
    folder: new URL("data:,"),
    file: `${environment.name}.wgsl`,
    code: wgsl,
    observationForm: environment.frames === true ? "frames" : "numbers",
    // Nobody but its own WGSL knows what they are.
    state: [{ name: "state", type: "u32", count: stateWords }],
  };
}

/**
 * How a process's death under a rollout is told: where a user's WGSL may be the cause, as a failure that is not tried
 * again (see docs/decisions/0030), so that no further process is spent on it.
 */
export function deathIn(source: EnvironmentSource): ProblemCode {
  return typeof source === "string" ? "device-lost" : "backend-failed";
}
