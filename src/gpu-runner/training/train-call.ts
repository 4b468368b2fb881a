import type { PolicyNetwork } from "../../protocol/models/policy-network.ts";
import { decodeArchive } from "../../protocol/policies/archive-file.ts";
import type { Algorithm, TrainingResult } from "../../protocol/jobs/training.ts";
import type { CallContext } from "../devices/progress.ts";
import { type EnvironmentSource, openEnvironment } from "../environments/environment-source.ts";
import type { GpuPopulationRequest } from "../rollout/gpu/open-gpu-population.ts";
import type { Population, RollOutElsewhere } from "../rollout/population.ts";
import { type Checkpoint, decodeCheckpoint, encodeCheckpoint } from "./checkpoint-file.ts";
import { openStrategy } from "./open-strategy.ts";
import { NEW_TRAINING, trainPolicy, type TrainingOutcome, type TrainingPlan } from "./train-policy.ts";

/** Training, or the rest of one, in a device process. */
export interface TrainRequest {
  readonly environment: EnvironmentSource;
  /** Digest of the environment's program; a checkpoint must have the same. */
  readonly environmentDigest: string | null;
  readonly network: PolicyNetwork;
  readonly algorithm: Algorithm;
  readonly plan: TrainingPlan;
  /** Checkpoint file of an earlier run; null at the start. */
  readonly checkpoint: Uint8Array | null;
  /** Whether the caller rolls the members out, on several devices. */
  readonly isShared?: boolean;
  /** File of an archive to start with. */
  readonly archive?: Uint8Array<ArrayBuffer>;
}

/** Outcome of a training. */
export interface TrainOutcome extends TrainingOutcome {
  /** Number of a policy's parameters. */
  readonly parameters: number;
  readonly backend: Population["backend"];
  readonly qualityDiversity: TrainingResult["qualityDiversity"];
  /** Generations of the checkpoint that it continued from. */
  readonly resumedFrom: number | null;
}

/** Trains on populations that `open` makes on this process's device, and releases them. */
export async function runTrain(
  open: (request: Omit<GpuPopulationRequest, "settings">) => Promise<Population>,
  { environment: source, environmentDigest, network, algorithm, plan, checkpoint, archive, isShared }: TrainRequest,
  { signal, onProgress, onCheckpoint, onRollOut }: CallContext & { readonly onRollOut: RollOutElsewhere },
): Promise<TrainOutcome> {
  const environment = openEnvironment(source);
  const kept: Checkpoint | null = checkpoint === null ? null : decodeCheckpoint(checkpoint);
  await using stack = new AsyncDisposableStack();
  const openReleased = async (members: number) =>
    stack.adopt(await open({ environment, network, members }), (population) => population.release());
  const own = await openReleased(algorithm.population);
  const population = isShared === true ? rollOutElsewhere(own, onRollOut) : own;
  const judge = await openReleased(1);
  const context = { algorithm, environment, network, population, seed: plan.seed, saved: kept?.strategy ?? null };
  const elites = archive === undefined ? {} : { elites: decodeArchive(archive) };
  const strategy = stack.adopt(await openStrategy({ ...context, ...elites }), async (opened) => opened.release?.());
  const outcome = await trainPolicy(plan, { population, judge, strategy }, kept?.state ?? NEW_TRAINING, {
    signal,
    nowMs: () => performance.now(),
    onGeneration: (point) => onProgress({ phase: "training", done: point.generation, total: plan.generations, point }),
    onCheckpoint: (state, saved) => onCheckpoint(encodeCheckpoint({ environmentDigest, state, strategy: saved })),
  });
  return {
    ...outcome,
    qualityDiversity: (await strategy.describeArchive?.()) ?? null,
    parameters: population.parameters,
    backend: population.backend,
    resumedFrom: kept?.state.generations ?? null,
  };
}

/** The same population, whose members are rolled out elsewhere: this device moves them and learns. */
function rollOutElsewhere(own: Population, rollOut: RollOutElsewhere): Population {
  return { ...own, evaluate: async (plan) => rollOut({ ...plan, weights: await own.read(0, own.members) }) };
}
