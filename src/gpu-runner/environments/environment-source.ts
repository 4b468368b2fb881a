import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import { environmentNamed } from "../../../kernels/environments/registry.ts";
import type { OfferedEnvironment } from "../../protocol/policies/environment-definition.ts";
import { type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";

/** Source of an environment for a device process: a built-in name, or a user's submission. Plain data. */
export type EnvironmentSource = string | OfferedEnvironment;

/** Environment of an offer's spec. Fails with `not-found` where it is gone or not accepted here. */
export function environmentSourceOf(
  key: string,
  { environment, userKernels }: { readonly environment: OfferedEnvironment | null; readonly userKernels: boolean },
): EnvironmentSource {
  if (environment === null) return environmentNamed(key).name;
  // None is offered then; the check holds for a faulty edge too.
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
    // Only the submitted WGSL knows its fields.
    state: [{ name: "state", type: "u32", count: stateWords }],
  };
}

/**
 * Problem code for a process that dies during a rollout. Where a user's WGSL may be the cause, the failure is not
 * retried, so that it costs no further process.
 * Source: docs/decisions/0030.
 */
export function deathIn(source: EnvironmentSource): ProblemCode {
  return typeof source === "string" ? "device-lost" : "backend-failed";
}
