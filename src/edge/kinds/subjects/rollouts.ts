import type { Capabilities } from "../../../protocol/fleet/hardware.ts";
import type { RolloutEnvironment } from "../../../protocol/fleet/rollout-environment.ts";
import type { EvaluationSpec } from "../../../protocol/jobs/evaluation/evaluation.ts";
import type { PolicyNetwork } from "../../../protocol/models/policy-network.ts";
import type { FieldError } from "../../../protocol/wire/problem.ts";
import type { Database, ProjectDatabase } from "../../store/database.ts";
import { findEnvironment, isEnvironmentId, readOfferedEnvironment } from "../../store/models/environment-store.ts";
import type { JobSurroundings, OfferContext } from "../kind.ts";

/** Requested place of an evaluation or training. */
type RolloutPlace = Pick<EvaluationSpec, "deviceKey" | "devices" | "backend">;

/**
 * Checks the requested place of an evaluation or training; if no runner with the environment has connected yet, the job
 * may wait.
 */
export function checkRolloutPlace(
  { deviceKey, devices: shared, backend }: RolloutPlace,
  environmentKey: string,
  able: JobSurroundings["candidates"],
): FieldError[] {
  const errors: FieldError[] = [];
  if (backend === "cpu-simd" && isEnvironmentId(environmentKey)) {
    errors.push({ pointer: "#/backend", message: "runs no environments that users submitted" });
  }
  const devices = able
    .flatMap(({ capabilities }) => capabilities.devices)
    .filter(({ backends }) => backends.includes("wgsl") || backends.includes("cpu-simd"));
  const keys = new Set(devices.map(({ key }) => key));
  if (deviceKey !== undefined && able.length > 0 && !keys.has(deviceKey)) {
    errors.push({ pointer: "#/deviceKey", message: `must be one of: ${[...keys].toSorted().join(", ")}` });
  }
  errors.push(...checkSharing({ deviceKey, devices: shared, backend }, able));
  return errors;
}

/** Checks the GPUs that are to share a job, where any are named. */
export function checkSharing(
  { deviceKey, devices, backend }: RolloutPlace,
  able: JobSurroundings["candidates"],
): FieldError[] {
  if (devices === undefined) return [];
  const refuse = (message: string): FieldError[] => [{ pointer: "#/devices", message }];
  if (deviceKey !== undefined) return refuse("must not be given beside deviceKey, which names one device");
  if (backend === "cpu-simd") return refuse("must not be given with the backend cpu-simd, which is one CPU");
  if (devices !== "all" && new Set(devices).size < devices.length) return refuse("must name each device once");
  if (able.length === 0 || able.some(({ capabilities }) => hasSharers(capabilities, devices))) return [];
  const gpus = able.map(({ capabilities }) => listSharers(capabilities).join(", ") || "none");
  return refuse(`must be GPUs of one runner that shares jobs; those that can take it have: ${gpus.join("; ")}`);
}

type Sharer = Pick<Capabilities, "devices" | "sharesJobs">;

/** GPUs of a runner that can share a job; a runner of an older release would ignore that it should. */
function listSharers({ devices, sharesJobs = false }: Sharer): string[] {
  if (!sharesJobs) return [];
  return devices.filter(({ backends }) => backends.includes("wgsl")).map(({ key }) => key);
}

/** Whether a runner has the GPUs that are to share a job; true for any runner if none are named. */
export function hasSharers(capabilities: Sharer, devices: RolloutPlace["devices"]): boolean {
  if (devices === undefined) return true;
  const gpus = listSharers(capabilities);
  return devices === "all" ? gpus.length > 0 : devices.every((key) => gpus.includes(key));
}

/** Network outputs for an environment: one for each discrete action or component of a continuous one. */
export function countRolloutOutputs(action: RolloutEnvironment["action"]): number {
  return action.kind === "discrete" ? action.count : action.size;
}

/** Reason why a network cannot process an environment's observations; null if it can. */
export function checkSight({ kind }: PolicyNetwork, { frames = false }: RolloutEnvironment): string | null {
  if ((kind === "conv") === frames) return null;
  return frames ? "must be conv: the environment shows frames" : "must not be conv: the environment shows no frames";
}

/** Inputs of each layer's neurons, and the outputs, for kinds of networks that consist of layers. */
function listWidths(
  network: Extract<PolicyNetwork, { kind: "conv" | "mlp" }>,
  { observationSize, action }: RolloutEnvironment,
): (readonly [inputs: number, outputs: number])[] {
  const last = countRolloutOutputs(action);
  if (network.kind === "conv") {
    // Convolutions of 8×8 over four frames and of 4×4 over each channel, then maps of 9×9.
    const { firstChannels, secondChannels, hidden } = network;
    return [
      [4 * 8 * 8, firstChannels],
      [4 * 4 * firstChannels, secondChannels],
      [9 * 9 * secondChannels, hidden],
      [hidden, last],
    ];
  }
  const widths = [observationSize, ...network.hidden, last];
  return widths.slice(1).map((outputs, layer) => [widths[layer]!, outputs]);
}

/** Weights and biases of a layered network in an environment. */
export function countLayerParameters(
  network: Extract<PolicyNetwork, { kind: "conv" | "mlp" }>,
  environment: RolloutEnvironment,
): number {
  return listWidths(network, environment).reduce((sum, [inputs, outputs]) => sum + (inputs + 1) * outputs, 0);
}

/** Fault of rows with this many parameters for an environment; runners check kinds that the edge cannot size. */
export function checkNetworkSize(
  network: PolicyNetwork,
  parameters: number,
  environment: RolloutEnvironment,
): string | null {
  const blind = checkSight(network, environment);
  if (blind !== null) return `has a network of kind ${network.kind}, which ${blind}`;
  if (network.kind !== "mlp" && network.kind !== "conv") return null;
  const wanted = countLayerParameters(network, environment);
  if (wanted === parameters) return null;
  const form =
    network.kind === "mlp"
      ? [environment.observationSize, ...network.hidden, countRolloutOutputs(environment.action)].join("-")
      : "its conv";
  return `has ${parameters} parameters a member, and ${form} in this environment has ${wanted}`;
}

/** An environment that a job names. */
export interface ResolvedEnvironment {
  /** Key in the job's spec: the name of an announced environment, or the id of a submitted one. */
  readonly key: string;
  readonly environment: RolloutEnvironment;
}

/** The environment with a name or id; announced ones take precedence. Null if there is none. */
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

/** Whether a runner can run the environment with a spec's key: it announces it, or takes submitted programs. */
export function takesEnvironment(
  key: string,
  { environments = [], userKernels, devices }: Pick<Capabilities, "environments" | "userKernels" | "devices">,
): boolean {
  if (!isEnvironmentId(key)) return environments.some(({ name }) => name === key);
  return userKernels === true && devices.some(({ backends }) => backends.includes("wgsl"));
}

/** The program of a submitted environment. */
export async function offerEnvironment(
  db: Database,
  { environment: key }: { environment: string },
): Promise<OfferContext> {
  const environment = isEnvironmentId(key) ? await readOfferedEnvironment(db, key) : null;
  return environment === null ? { model: null } : { model: null, environment };
}

/** Whether an environment is the one of a job; a submitted one has a name beside its id. */
export function isIn(key: string, name: string): boolean {
  return isEnvironmentId(key) || name === key;
}
