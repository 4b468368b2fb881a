import type { EnvironmentSpec } from "../../../kernels/environments/environment-spec.ts";
import type { JobArtifact } from "../../protocol/job-artifact.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { TrainingResult, TrainingSpec } from "../../protocol/training.ts";
import { meanInterval } from "../../stats/mean-interval.ts";
import type { FleetDevice } from "../device-fleet.ts";
import { digestOf } from "../rollout/announce-environments.ts";
import type { BackendQuestion } from "../rollout/choose-backend.ts";
import {
  deathIn,
  type EnvironmentSource,
  environmentSourceOf,
  openEnvironment,
} from "../rollout/environment-source.ts";
import { decodeCheckpoint } from "../training/checkpoint-file.ts";
import { thinProgress } from "../thin-progress.ts";
import { sendLatest } from "../training/send-latest.ts";
import { sampleStarts } from "../training/sample-starts.ts";
import type { TrainOutcome, TrainRequest } from "../training/train-call.ts";
import type { TrainingPlan } from "../training/train-policy.ts";
import { writePolicyFile } from "../training/write-policy-file.ts";
import { describeEnvironment } from "./describe-environment.ts";
import type { Workload, WorkloadContext } from "./workload.ts";

/** What a training may take beyond its own time: a generation that began in it, and the last evaluation. */
const GRACE_MS = 300_000;

/**
 * Trains a policy in a device process of its own, from the checkpoint that an earlier attempt left, where there is one.
 * The best policy is left as an ONNX file. A process that dies is followed by another, as long as each leaves a newer
 * checkpoint.
 */
export const runTraining: Workload<TrainingSpec> = async (spec, context) => {
  const { fleet, backends, otherJobs, artifacts, residency, signal } = context;
  const source = environmentSourceOf(spec.environment, context);
  const environment = openEnvironment(source);
  const digest = await digestOf(environment);
  const checkpoint = usableCheckpoint(await artifacts.get("checkpoint"), digest, context);
  const choice = await backends.choose(questionOf(spec, source, environment), { signal });
  const { device } = choice;
  const machine = describeEnvironment(device.host.device, otherJobs);
  const { network, algorithm } = spec;
  const plan = planOf(spec, environment);
  const archive =
    spec.archiveFile === undefined ? {} : { archive: Uint8Array.from(await residency.read(spec.archiveFile.digest)) };
  const request = { environment: source, environmentDigest: digest, network, algorithm, plan, checkpoint, ...archive };
  const outcome = await fleet.use(device, () => trainToEnd(device, request, context));
  const files = await leaveFiles(spec, environment, outcome, context);
  const result: TrainingResult = {
    kind: "training",
    task: { name: environment.name, digest },
    algorithm: spec.algorithm,
    network: spec.network,
    generations: outcome.state.generations,
    solvedAtGeneration: outcome.state.solvedAtGeneration,
    curve: [...outcome.state.curve],
    best: { mean: meanInterval(outcome.returns), episodes: outcome.returns.length, seed: spec.seed },
    resumedFrom: outcome.resumedFrom,
    published: spec.publish === undefined ? null : { model: spec.publish.model, modelVersionId: null },
    qualityDiversity: outcome.qualityDiversity,
    throughput: { chosenFrom: choice.chosenFrom, ...throughputOf(outcome, spec) },
    artifacts: files,
    environment: machine,
  };
  return { result, deviceKey: device.host.device.key };
};

function questionOf(
  { network, algorithm, episodes, seed, backend, deviceKey }: TrainingSpec,
  source: EnvironmentSource,
  environment: EnvironmentSpec,
): BackendQuestion {
  const sample = () => sampleStarts(network, environment, seed, algorithm.population);
  return { environment: source, network, members: algorithm.population, episodes, sample, backend, deviceKey };
}

function planOf(spec: TrainingSpec, { scores }: EnvironmentSpec): TrainingPlan {
  const { generations, episodes, stopAt, evaluation, seed, checkpointMs, timeoutMs } = spec;
  const stop = stopAt === undefined ? {} : { stopAt };
  const { solvedAt } = scores;
  return { generations, episodes, ...stop, evaluation, seed, checkpointMs, solvedAt, budgetMs: timeoutMs };
}

/** A checkpoint that can be gone on from: one of the same environment. Another is as good as none. */
function usableCheckpoint(
  file: Uint8Array<ArrayBuffer> | null,
  digest: string | null,
  { logger }: WorkloadContext,
): Uint8Array<ArrayBuffer> | null {
  if (file === null) return null;
  try {
    const { environmentDigest } = decodeCheckpoint(file);
    if (environmentDigest === digest) return file;
    logger.error({ environmentDigest }, "the checkpoint is of another environment: the training begins anew");
  } catch (error) {
    logger.error({ error }, "the checkpoint cannot be read: the training begins anew");
  }
  return null;
}

async function trainToEnd(
  { host }: FleetDevice,
  request: TrainRequest,
  { artifacts, signal, onProgress, logger }: WorkloadContext,
): Promise<TrainOutcome> {
  const uploads = sendLatest(
    (file: Uint8Array<ArrayBuffer>) => artifacts.put("checkpoint", file),
    (error) => logger.error({ error }, "a checkpoint could not be kept"),
  );
  const thinned = thinProgress(onProgress, () => performance.now());
  let { checkpoint } = request;
  const onCheckpoint = (file: Uint8Array<ArrayBuffer>) => {
    checkpoint = file;
    uploads.offer(file);
  };
  for (;;) {
    const begunFrom = checkpoint;
    const input = { ...request, checkpoint };
    const limitMs = request.plan.budgetMs + GRACE_MS;
    const options = { signal, onProgress: thinned, onCheckpoint };
    try {
      const outcome = await host.workApart("train", input, limitMs, deathIn(request.environment), options);
      await uploads.settle();
      return outcome;
    } catch (error) {
      const died = error instanceof ProblemError && error.problem.code === "device-lost";
      if (!died || signal.aborted || checkpoint === begunFrom) throw error;
    }
  }
}

/** What the job leaves: the best policy, where it has a file, and what the algorithm has beside it. */
async function leaveFiles(
  { network }: TrainingSpec,
  environment: EnvironmentSpec,
  { state, files }: TrainOutcome,
  { artifacts }: WorkloadContext,
): Promise<JobArtifact[]> {
  const policy = writePolicyFile(environment, network, state.best.policy);
  const left: JobArtifact[] = [];
  if (policy !== null) left.push(await artifacts.put("policy", policy));
  for (const { name, bytes, mediaType } of files) left.push(await artifacts.put(name, bytes, mediaType));
  return left;
}

/** Of the whole training: judging, moving the population and all else are in its time, and not in its steps. */
function throughputOf({ state, parameters, backend }: TrainOutcome, { algorithm }: TrainingSpec) {
  const { steps, evaluations, elapsedMs: durationMs } = state;
  const perSecond = (count: number) => (durationMs > 0 ? (count / durationMs) * 1_000 : 0);
  return {
    backend,
    steps,
    evaluations,
    durationMs,
    stepsPerSecond: perSecond(steps),
    evaluationsPerSecond: perSecond(evaluations),
    meanEpisodeLength: evaluations > 0 ? steps / evaluations : 0,
    parameters,
    members: algorithm.population,
    inferenceIncluded: true as const,
  };
}
