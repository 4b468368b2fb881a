import type { EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import type { JobArtifact } from "../../../protocol/jobs/job-artifact.ts";
import type { JobProgress } from "../../../protocol/jobs/job.ts";
import type { TrainingResult, TrainingSpec } from "../../../protocol/jobs/training.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { meanInterval } from "../../../stats/distribution/intervals.ts";
import { digestOf } from "../../environments/announce-environments.ts";
import {
  deathIn,
  type EnvironmentSource,
  environmentSourceOf,
  openEnvironment,
} from "../../environments/environment-source.ts";
import type { FleetDevice } from "../../serving/device-fleet.ts";
import { decodeCheckpoint } from "../../training/checkpoint-file.ts";
import type { TrainOutcome, TrainRequest } from "../../training/train-call.ts";
import type { TrainingPlan } from "../../training/train-policy.ts";
import { type BackendQuestion, sampleStarts } from "../steps/choose-backend.ts";
import type { Workload, WorkloadContext } from "../kind.ts";
import { describeEnvironment } from "../steps/describe-run.ts";
import { writePolicyFile } from "./write-policy-file.ts";

/** Interval to the next progress, as a share of the time that has passed. */
const SHARE = 0.005;

/**
 * Passes on progress at growing intervals, for work that may last a day: some 200 for each e-fold of time.
 * The edge keeps it, spread over the whole time, and that of a training together is its curve. The end of the work is always passed on.
 */
export function thinProgress(
  onProgress: (progress: JobProgress) => void,
  nowMs: () => number,
): (progress: JobProgress) => void {
  const startedMs = nowMs();
  let nextMs = startedMs;
  return (progress) => {
    const atMs = nowMs();
    if (atMs < nextMs && progress.done < progress.total) return;
    nextMs = atMs + SHARE * (atMs - startedMs);
    onProgress(progress);
  };
}

/** Sender of a stream's latest value. */
interface LatestSender<Value> {
  /** Returns at once; a value not yet being sent when the next one arrives is dropped. */
  offer(value: Value): void;
  /** Resolves once nothing is being sent or waiting. */
  settle(): Promise<void>;
}

/**
 * Sends the latest offered value, one at a time. A failure is reported and dropped, since a later value may succeed.
 */
export function sendLatest<Value>(
  send: (value: Value) => Promise<unknown>,
  onFailure: (error: unknown) => void,
): LatestSender<Value> {
  let waiting: { readonly value: Value } | null = null;
  let running: Promise<void> | null = null;
  const drain = async () => {
    while (waiting !== null) {
      const { value } = waiting;
      waiting = null;
      await send(value).catch(onFailure);
    }
    running = null;
  };
  return {
    offer(value) {
      waiting = { value };
      running ??= drain();
    },
    settle: async () => running ?? undefined,
  };
}

/** Extra time of a training: for the generation that began in its own time, and the last evaluation. */
const GRACE_MS = 300_000;

/**
 * Trains a policy in a device process of its own, from an earlier attempt's checkpoint where there is one.
 * The best policy is stored as an ONNX file.
 * A process that dies is replaced, as long as each leaves a newer checkpoint.
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
    kind: spec.kind,
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

/** Checkpoint of the same environment, from which training can resume; any other counts as none. */
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

/** Stores the job's files: the best policy, where it has a file, and the algorithm's own. */
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

/**
 * Throughput of the whole training: its time includes judging, moving the population and all else; its steps do not.
 */
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
