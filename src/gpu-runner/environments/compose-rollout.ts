import { readFile } from "node:fs/promises";
import type { PolicyNetwork } from "../../protocol/models/policy-network.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import { compileParts, type ProgramPart } from "../devices/gpu/kernel-loader.ts";
import { ROLLOUT_FOLDER, writePrelude } from "../../../kernels/rollout/write-prelude.ts";

/**
 * Compiles a policy in an environment. Fails with `kernel-invalid`, with a line `file:line:column: message` for each
 * error, where `file` is the environment's own or one of ours.
 */
export async function compileRollout(
  device: GPUDevice,
  environment: EnvironmentSpec,
  network: PolicyNetwork,
): Promise<GPUShaderModule> {
  const kind = environment.action.kind;
  const { observationForm = "numbers" } = environment;
  if ((observationForm === "frames") !== (network.kind === "conv")) {
    const takes = observationForm === "frames" ? "shows frames, for networks of kind conv alone" : "shows no frames";
    throw new ProblemError("invalid-request", `${environment.name} ${takes}.`);
  }
  const files = [
    `${kind}-action.wgsl`,
    "activate.wgsl",
    ...(network.kind === "mlp" ? [`mlp-${observationForm}.wgsl`] : []),
    `${network.kind}.wgsl`,
    environment.measures > 0 ? "measured.wgsl" : "unmeasured.wgsl",
    "rollout.wgsl",
  ];
  return compileParts(device, await compose(environment, writePrelude(environment, network), files));
}

/**
 * An environment by itself; see replay.wgsl. `source` is the file that gives `draw_words`.
 */
export async function composeReplay(environment: EnvironmentSpec, source = "philox.wgsl"): Promise<ProgramPart[]> {
  const kind = environment.action.kind;
  const files = [`${kind}-action.wgsl`, `replay-${kind}.wgsl`, "replay.wgsl"];
  return compose(environment, writePrelude(environment, NO_NETWORK), files, source);
}

/** The program of noise in one of its two uses: `perturb.wgsl` or `recombine.wgsl`. */
export async function compileNoise(device: GPUDevice, use: string): Promise<GPUShaderModule> {
  return compileParts(device, await readParts(["philox.wgsl", "arithmetic.wgsl", "normal.wgsl", "noise.wgsl", use]));
}

/** The program that makes one generation out of another. */
export async function compileBreeding(device: GPUDevice): Promise<GPUShaderModule> {
  const files = ["philox.wgsl", "uniform.wgsl", "arithmetic.wgsl", "normal.wgsl", "noise.wgsl", "breed.wgsl"];
  return compileParts(device, await readParts(files));
}

/** The program that moves rows of members. */
export async function compileInterleave(device: GPUDevice): Promise<GPUShaderModule> {
  return compileParts(device, await readParts(["interleave.wgsl"]));
}

function readParts(files: readonly string[]): Promise<ProgramPart[]> {
  return Promise.all(files.map((file) => readPart(new URL(file, ROLLOUT_FOLDER))));
}

async function readPart(url: URL): Promise<ProgramPart> {
  return { file: url.pathname.split("/").at(-1)!, code: await readFile(url, "utf8") };
}

const NO_NETWORK: PolicyNetwork = { kind: "direct" };

/** Everything behind a prelude of sizes, since lengths of arrays outside of workgroup memory cannot be `override`s. */
async function compose(
  environment: EnvironmentSpec,
  prelude: string,
  files: readonly string[],
  source = "philox.wgsl",
): Promise<ProgramPart[]> {
  const { observationForm = "numbers", shared = [], code, file, folder } = environment;
  const standard = [source, "uniform.wgsl", "arithmetic.wgsl", "normal.wgsl", `${observationForm}.wgsl`];
  const around = await readParts([...standard, ...files]);
  const beside = await Promise.all(shared.map(readPart));
  const own = code === undefined ? await readPart(new URL(file, folder)) : { file, code };
  return [{ file: "prelude", code: prelude }, ...around, ...beside, own];
}
