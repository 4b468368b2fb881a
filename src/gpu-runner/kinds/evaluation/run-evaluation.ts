import type { EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import { createEpisodesFile, writeEpisode } from "../../../protocol/jobs/evaluation/episodes-file.ts";
import type {
  EvaluatedEntrant,
  EvaluationResult,
  EvaluationSpec,
  RolloutThroughput,
} from "../../../protocol/jobs/evaluation/evaluation.ts";
import type { Fault } from "../../../protocol/wire/fault.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { describeEntrant, type EntrantEpisodes, type EntrantGroup, groupEntrants } from "./entrants.ts";
import { judgeProof, planProof } from "./prove-environment.ts";
import { recordApart, scoreApart } from "./run-apart.ts";
import type { RecordedMember } from "./record-episodes.ts";
import { digestOf } from "../../environments/announce-environments.ts";
import type { BackendChoice } from "../steps/choose-backend.ts";
import {
  deathIn,
  type EnvironmentSource,
  environmentSourceOf,
  openEnvironment,
} from "../../environments/environment-source.ts";
import type { RollOutOutcome } from "../../rollout/roll-out.ts";
import type { FleetDevice } from "../../serving/device-fleet.ts";
import type { Workload, WorkloadContext } from "../kind.ts";
import { describeEnvironment } from "../steps/describe-run.ts";
import { describeShares, findSharers, shareOnce, useAll, type Worked } from "../steps/share-rollout.ts";

/** Most members in a trial of backends. */
const SAMPLED_MEMBERS = 4_096;
const PROOF_MS = 60_000;

/** Group with the outcome of its rollout. */
interface RolledOut {
  readonly group: EntrantGroup;
  readonly outcome: Pick<RollOutOutcome, "returns" | "lengths" | "causes" | "unsound" | "waves" | "durationMs">;
  /** Shares of several devices, and what failed meanwhile. */
  readonly done: readonly Worked[];
  readonly faults: readonly Fault[];
}

/** Where an evaluation runs: on one device, or on several that share it. */
interface Place extends BackendChoice {
  readonly sharers: readonly FleetDevice[] | null;
}

/**
 * Rolls entrants out in an environment, grouped by network, in processes of their own, and describes their results.
 * Each device first proves that it moves the environment as its reference does; otherwise the job fails.
 */
export const runEvaluation: Workload<EvaluationSpec> = async (spec, context) => {
  const { fleet, artifacts, otherJobs, signal, onProgress } = context;
  const source = environmentSourceOf(spec.environment, context);
  const environment = openEnvironment(source);
  const digest = await digestOf(environment);
  onProgress({ phase: "fetching", done: 0, total: spec.entrants.length });
  const groups = await groupEntrants(spec.entrants, environment, (file) => context.residency.read(file));
  const chosen = await choosePlace(spec, source, groups[0]!, context);
  const { device } = chosen;
  const machine = describeEnvironment(device.host.device, otherJobs);
  return useAll(fleet, chosen.sharers ?? [device], async () => {
    const proof = await prove(environment, source, chosen, context);
    const rolled: RolledOut[] = [];
    for (const group of groups) rolled.push({ group, ...(await rollOut(spec, source, group, chosen, context)) });
    onProgress({ phase: "scoring", done: 0, total: spec.entrants.length });
    const episodes = spec.entrants.map((_, place) => episodesOf(rolled, place, spec));
    const entrants = await describeEntrants(spec, environment, episodes, signal);
    const file = spec.episodes === 0 ? null : writeFile(episodes);
    const artifact = file === null ? null : await artifacts.put("episodes", file);
    const replay =
      spec.record === 0 ? null : await artifacts.put("replay", await record(spec, rolled, entrants, context));
    const faults = rolled.flatMap((each) => each.faults).slice(0, LIMITS.faults);
    const result: EvaluationResult = {
      kind: "evaluation",
      task: { name: environment.name, digest },
      episodes: spec.episodes,
      seed: spec.seed,
      commonRandom: spec.commonRandom,
      entrants,
      waves: Math.max(...rolled.map(({ outcome }) => outcome.waves)),
      throughput: spec.episodes === 0 ? null : describeThroughput(rolled, chosen),
      scores: environment.scores,
      proof,
      artifact,
      replay,
      environment: machine,
      ...(faults.length > 0 && { faults }),
    };
    return { result, deviceKey: device.host.device.key };
  });
};

/** The named GPUs, else the backend for all rollouts that is the fastest for the largest group. */
async function choosePlace(
  { episodes, backend, deviceKey, devices }: EvaluationSpec,
  environment: EnvironmentSource,
  { network, members, parameters, weights }: EntrantGroup,
  { fleet, backends, signal, onProgress }: WorkloadContext,
): Promise<Place> {
  if (devices !== undefined) {
    const sharers = findSharers(fleet, devices);
    return { backend: "wgsl", device: sharers[0]!, chosenFrom: [], sharers };
  }
  onProgress({ phase: "choosing a backend", done: 0, total: 1 });
  const sampled = Math.min(members, SAMPLED_MEMBERS);
  const sample = () => ({ members: sampled, weights: weights.slice(0, sampled * parameters) });
  const question = { environment, network, members, episodes, sample, backend, deviceKey };
  return { ...(await backends.choose(question, { signal })), sharers: null };
}

async function prove(
  environment: EnvironmentSpec,
  source: EnvironmentSource,
  { device, sharers }: Place,
  { signal, onProgress }: WorkloadContext,
): Promise<EvaluationResult["proof"]> {
  if (environment.reference === undefined) return null;
  onProgress({ phase: "proving", done: 0, total: 1 });
  const request = planProof(environment);
  const input = { environment: source, ...request };
  const proofs = (sharers ?? [device]).map(async ({ host }) => {
    const trace = await host.workApart("replay", input, PROOF_MS, "device-lost", { signal });
    return judgeProof(environment, request, trace);
  });
  // Of several devices the result has the least convincing proof.
  return (await Promise.all(proofs)).toSorted((a, b) => a.agreeing / a.steps - b.agreeing / b.steps)[0]!;
}

async function rollOut(
  { episodes, seed, commonRandom, timeoutMs }: EvaluationSpec,
  environment: EnvironmentSource,
  { network, members, parameters, weights }: EntrantGroup,
  { device, sharers }: Place,
  context: WorkloadContext,
): Promise<Omit<RolledOut, "group">> {
  const nothing = { done: [], faults: [] };
  if (episodes === 0) return { outcome: checkOnly(members, parameters, weights), ...nothing };
  const plan = { seed, firstEpisode: 0, episodes, commonRandom };
  const request = { environment, network, members, weights, ...plan };
  if (sharers !== null) return shareOnce(request, sharers, timeoutMs, context);
  const { signal, onProgress } = context;
  const options = { signal, onProgress };
  return {
    outcome: await device.host.workApart("rollOut", request, timeoutMs, deathIn(environment), options),
    ...nothing,
  };
}

/** Outcome without any episode, which checks the weights alone. */
function checkOnly(members: number, parameters: number, weights: Float32Array): RolledOut["outcome"] {
  const isSound = (row: Float32Array) => row.every(Number.isFinite);
  const unsound = Uint8Array.from({ length: members }, (_, member) =>
    isSound(weights.subarray(member * parameters, (member + 1) * parameters)) ? 0 : 1,
  );
  const nothing = { returns: new Float32Array(), lengths: new Uint32Array(), causes: new Uint8Array() };
  return { ...nothing, unsound, waves: 1, durationMs: 0 };
}

/** Results of one entrant within its group. */
function episodesOf(
  rolled: readonly RolledOut[],
  place: number,
  { entrants, episodes }: EvaluationSpec,
): EntrantEpisodes {
  const { group, outcome } = rolled.find(({ group: { firsts } }) => firsts.has(place))!;
  const first = group.firsts.get(place)!;
  const last = first + entrants[place]!.members;
  const cut = <Numbers extends { subarray(from: number, to: number): Numbers }>(numbers: Numbers): Numbers =>
    numbers.subarray(first * episodes, last * episodes);
  return {
    returns: cut(outcome.returns),
    lengths: cut(outcome.lengths),
    causes: cut(outcome.causes),
    unsound: outcome.unsound.subarray(first, last),
    episodes,
  };
}

async function describeEntrants(
  { entrants }: EvaluationSpec,
  { scores: { worst, best } }: EnvironmentSpec,
  episodes: readonly EntrantEpisodes[],
  signal: AbortSignal,
): Promise<EvaluatedEntrant[]> {
  const described = episodes.map(describeEntrant);
  const scored = described.map(({ sound }, place) => ({
    returns: sound,
    episodes: episodes[place]!.episodes,
    worst,
    best,
  }));
  const scores = await scoreApart(
    scored.filter(({ returns }) => returns.length > 0),
    signal,
  );
  return described.map(({ sound, ...rest }, place) => {
    const { name, modelVersionId = null } = entrants[place]!;
    return { name, modelVersionId, scores: sound.length === 0 ? null : scores.shift()!, ...rest };
  });
}

/** Records the first episodes of each entrant state by state; with several members, those of the best. */
function record(
  { environment, record: episodes, seed, commonRandom }: EvaluationSpec,
  rolled: readonly RolledOut[],
  entrants: readonly EvaluatedEntrant[],
  { signal, onProgress }: WorkloadContext,
): Promise<Uint8Array<ArrayBuffer>> {
  onProgress({ phase: "recording", done: 0, total: entrants.length * episodes });
  const members = entrants.map(({ best }, entrant): RecordedMember => {
    const { group } = rolled.find(({ group: { firsts } }) => firsts.has(entrant))!;
    const member = best[0]?.member ?? 0;
    const drawnAs = group.firsts.get(entrant)! + member;
    const { network, parameters: width, weights } = group;
    return { entrant, member, drawnAs, network, parameters: weights.slice(drawnAs * width, (drawnAs + 1) * width) };
  });
  return recordApart({ environment, members, episodes, seed, commonRandom }, signal);
}

/** Writes every episode of every entrant, in order. */
function writeFile(entrants: readonly EntrantEpisodes[]): Uint8Array<ArrayBuffer> {
  const file = createEpisodesFile(entrants.reduce((sum, { returns }) => sum + returns.length, 0));
  const view = new DataView(file.buffer);
  let place = 0;
  for (const [entrant, { returns, lengths, causes, episodes }] of entrants.entries()) {
    for (let at = 0; at < returns.length; at++) {
      writeEpisode(view, place++, {
        entrant,
        member: Math.floor(at / episodes),
        episode: at % episodes,
        return: returns[at]!,
        length: lengths[at]!,
        cause: causes[at]!,
      });
    }
  }
  return file;
}

/** Throughput of all groups together; parameters are those of the largest. */
function describeThroughput(rolled: readonly RolledOut[], { backend, chosenFrom, sharers }: Place): RolloutThroughput {
  const sumOf = (count: (each: RolledOut) => number) => rolled.reduce((sum, each) => sum + count(each), 0);
  const steps = sumOf(({ outcome }) => outcome.lengths.reduce((sum, length) => sum + length, 0));
  const evaluations = sumOf(({ outcome }) => outcome.lengths.length);
  const durationMs = sumOf(({ outcome }) => outcome.durationMs);
  return {
    backend,
    chosenFrom: [...chosenFrom],
    steps,
    evaluations,
    durationMs,
    stepsPerSecond: (1_000 * steps) / durationMs,
    evaluationsPerSecond: (1_000 * evaluations) / durationMs,
    meanEpisodeLength: steps / evaluations,
    parameters: rolled[0]!.group.parameters,
    members: sumOf(({ group }) => group.members),
    inferenceIncluded: true,
    ...(sharers !== null && { devices: describeShares(rolled.flatMap(({ done }) => done)) }),
  };
}
