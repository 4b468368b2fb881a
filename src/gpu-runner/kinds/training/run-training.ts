import type { EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import type { JobArtifact } from "../../../protocol/jobs/job-artifact.ts";
import type { TrainingResult, TrainingSpec } from "../../../protocol/jobs/training.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { meanInterval } from "../../../stats/distribution/intervals.ts";
import { digestOf } from "../../environments/announce-environments.ts";
import { type EnvironmentSource, environmentSourceOf, openEnvironment } from "../../environments/environment-source.ts";
import type { FleetDevice } from "../../serving/device-fleet.ts";
import { decodeCheckpoint } from "../../training/checkpoint-file.ts";
import type { TrainOutcome, TrainRequest } from "../../training/train-call.ts";
import type { TrainingPlan } from "../../training/train-policy.ts";
import { type BackendQuestion, sampleStarts } from "../steps/choose-backend.ts";
import type { Workload, WorkloadContext } from "../kind.ts";
import { describeEnvironment } from "../steps/describe-run.ts";
import { describeShares, findSharers, useAll } from "../steps/share-rollout.ts";
import { trainToEnd } from "./train-to-end.ts";
import { trainShared } from "./train-shared.ts";
import { writePolicyFile } from "./write-policy-file.ts";

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
  const sharers = spec.devices === undefined ? null : findSharers(fleet, spec.devices);
  const choice =
    sharers === null
      ? await backends.choose(questionOf(spec, source, environment), { signal })
      : { device: sharers[0]!, chosenFrom: [] };
  const { device } = choice;
  const machine = describeEnvironment(device.host.device, otherJobs);
  const { network, algorithm } = spec;
  const plan = planOf(spec, environment);
  const archive =
    spec.archiveFile === undefined ? {} : { archive: Uint8Array.from(await residency.read(spec.archiveFile.digest)) };
  const request = { environment: source, environmentDigest: digest, network, algorithm, plan, checkpoint, ...archive };
  const { outcome, done, faults } =
    sharers === null
      ? { ...(await fleet.use(device, () => trainApart(device, request, context))), done: [] }
      : await useAll(fleet, sharers, () => trainShared(sharers, request, context));
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
    throughput: {
      chosenFrom: [...choice.chosenFrom],
      ...throughputOf(outcome, spec),
      ...(sharers !== null && { devices: describeShares(done) }),
    },
    artifacts: files,
    environment: machine,
    ...(faults.length > 0 && { faults: faults.slice(0, LIMITS.faults) }),
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

/** Trains on one device, in a process of its own. */
function trainApart({ host }: FleetDevice, request: TrainRequest, context: WorkloadContext) {
  return trainToEnd(
    (input, limitMs, died, options) => host.workApart("train", input, limitMs, died, options),
    request,
    context,
  );
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
