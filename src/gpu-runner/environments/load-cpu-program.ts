import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import { ENVIRONMENTS } from "../../../kernels/environments/registry.ts";
import { PolicyNetwork } from "../../protocol/models/policy-network.ts";
import { BUILT, digestText } from "../devices/cpu-simd/load-assembly.ts";
import { ROLLOUT_FOLDER } from "../../../kernels/rollout/write-prelude.ts";
import { composeAssembly, runsOnCpu } from "./compose-assembly.ts";

const BUILD = fileURLToPath(new URL("build-cpu-program.ts", import.meta.url));

/** More optimisation takes twice as long and does not make programs faster, since V8 optimises them again. */
export const ROLLOUT_OPTIONS = new URL("asconfig.json", ROLLOUT_FOLDER);

/** Kinds of policies in environments that have a program for the CPU; environments that users submit have none. */
export const CPU_ROLLOUTS = [...ENVIRONMENTS.values()].flatMap((environment) =>
  PolicyNetwork.options
    .map(({ shape }) => ({ environment, kind: shape.kind.value }))
    .filter(({ kind }) => runsOnCpu(environment, kind)),
);

/** AssemblyScript of a kind of policy in an environment, and the location of its WebAssembly, which kinds may share. */
export async function locateCpuProgram(
  environment: EnvironmentSpec,
  kind: PolicyNetwork["kind"],
): Promise<{ readonly text: string; readonly binary: URL }> {
  const text = await composeAssembly(environment, kind);
  const digest = await digestText(text, ROLLOUT_OPTIONS);
  return { text, binary: new URL(`rollout-${environment.name}-${digest.slice(0, 16)}.wasm`, BUILT) };
}

/**
 * Compiled program, made at its first use in a process of its own, which takes seconds. Fails with `backend-failed`
 * where the environment has no twin in AssemblyScript, else with the compiler's messages.
 */
export async function loadCpuProgram(
  environment: EnvironmentSpec,
  kind: PolicyNetwork["kind"],
): Promise<WebAssembly.Module> {
  const { binary } = await locateCpuProgram(environment, kind);
  const read = () => readFile(binary);
  const bytes = await read().catch(async () => {
    await promisify(execFile)(process.execPath, [BUILD, environment.name, kind]);
    return read();
  });
  return WebAssembly.compile(bytes);
}
