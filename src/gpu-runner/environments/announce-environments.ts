import { createHash } from "node:crypto";
import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import type { RolloutBackend, RolloutEnvironment } from "../../protocol/fleet/rollout-environment.ts";
import { runsOnCpu } from "./compose-assembly.ts";
import { composeReplay } from "./compose-rollout.ts";

/** Environments in the runner's hello: names, sizes, backends, and a digest of the WGSL of their step. */
export function announceEnvironments(
  environments: ReadonlyMap<string, EnvironmentSpec>,
): Promise<RolloutEnvironment[]> {
  return Promise.all([...environments.values()].map(announceEnvironment));
}

/** Announcement of one environment. */
async function announceEnvironment(environment: EnvironmentSpec): Promise<RolloutEnvironment> {
  const { name, description, observationSize, action, stepLimit, measures, scores, frames } = environment;
  const known = { name, description, observationSize, action, stepLimit, measures, scores };
  const backends: RolloutBackend[] = runsOnCpu(environment, frames === true ? "conv" : "mlp")
    ? ["wgsl", "cpu-simd"]
    : ["wgsl"];
  const shown = frames === undefined ? {} : { frames };
  return { ...known, ...shown, backends, digest: await digestOf(environment) };
}

/** Digest of an environment's WGSL; a submitted environment carries its own. */
export async function digestOf(environment: EnvironmentSpec): Promise<string> {
  if (environment.digest !== undefined) return environment.digest;
  const hash = createHash("sha256");
  for (const { code } of await composeReplay(environment)) hash.update(code);
  return `sha256:${hash.digest("hex")}`;
}
