import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import type { Breeding } from "../../../../kernels/rollout/breed.reference.ts";
import { pairUtilities, partDraws } from "../../../../kernels/rollout/noise.reference.ts";
import {
  countParameters,
  layOutGraph,
  layOutPolicy,
  type PolicyLayer,
} from "../../../../kernels/rollout/policy-layout.ts";
import { ACTIVATION_NUMBERS } from "../../../../kernels/rollout/write-prelude.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { PolicyNetwork } from "../../../protocol/models/policy-network.ts";
import { createWorkShares, runRound } from "../../devices/cpu-simd/work-shares.ts";
import { assertWanted } from "../../devices/progress.ts";
import { loadCpuProgram } from "../../environments/load-cpu-program.ts";
import { GROUP_BYTES, placePopulation, Places, type ProgramPlaces, WORK, type WorkName } from "./cpu-program.ts";
import type { EpisodePlan, EpisodeResults, Population, RolloutWatch } from "../population.ts";
import type { CpuWork } from "./cpu-worker.ts";

export interface CpuPopulationRequest {
  readonly environment: EnvironmentSpec;
  readonly network: PolicyNetwork;
  readonly members: number;
  /** Number of threads; by default one for each core. */
  readonly threads?: number;
}

const PAGE_BYTES = 65_536;
/** WebAssembly addresses 4 GiB, and a runner needs memory for other purposes. */
const MAX_BYTES = 3 * 2 ** 30;
/** Least turns of episodes per lane, where there are enough episodes, so that little is left to wait for. */
const TURNS = 16;
const LANES = 4;
const REPORT_MS = 200;

/**
 * Population in memory that threads share, four lanes each; see `Population`. Fails with `backend-failed` where the
 * environment runs on WGSL only, and with `out-of-memory` where weights or results exceed three gigabytes.
 */
export async function openCpuPopulation({
  environment,
  network,
  members,
  threads = availableParallelism(),
}: CpuPopulationRequest): Promise<Population> {
  const module = await loadCpuProgram(environment, network.kind);
  const layers = layOutNodes(network, environment);
  const parameters = countParameters(network, environment);
  const fixed = new Places();
  const places = placePopulation(fixed, environment, network, layers, 4 * parameters * members, threads);
  assertFits(fixed.sizeBytes);
  const memory = new WebAssembly.Memory({ initial: pagesOf(fixed.sizeBytes), maximum: PAGE_BYTES, shared: true });
  const widths = [layers[0]!.inputs, ...layers.map(({ outputs }) => outputs)];
  new Uint32Array(memory.buffer, places.widths).set(widths);
  new Uint32Array(memory.buffer, places.activations).set(
    layers.map(({ activation }) => ACTIVATION_NUMBERS[activation]),
  );
  const team = startTeam(module, memory, places.program, threads);
  const floats = (at: number, length: number) => new Float32Array(memory.buffer, at, length);
  const bytes = (at: number, length: number) => new Uint8Array(memory.buffer, at, length);
  const rows = (first: number, count: number) => floats(places.rows + 4 * first * parameters, count * parameters);
  const taken = new Uint32Array(memory.buffer, places.taken, 1);

  /** Addresses after the rest, until the next call. */
  function lend(sizes: readonly number[]): readonly number[] {
    const lent = new Places(fixed.sizeBytes);
    const at = sizes.map((sizeBytes) => lent.take(sizeBytes));
    grow(memory, lent.sizeBytes);
    return at;
  }

  const groupsBytes = GROUP_BYTES * Math.ceil((4 * parameters) / GROUP_BYTES);

  async function perturb({ seed, generation, mirrored, mean, sigma }: Parameters<Population["perturb"]>[0]) {
    const [means = 0, sigmas = 0] = lend([groupsBytes, groupsBytes]);
    floats(means, parameters).set(mean);
    floats(sigmas, parameters).set(sigma);
    await team.run("perturb", [members, seed, generation, mirrored ? 1 : 0, means, sigmas]);
  }

  async function recombine(noise: Parameters<Population["recombine"]>[0]) {
    const { seed, generation, mirrored, utilities } = noise;
    const factors = pairUtilities(utilities, mirrored);
    const draws = factors.length / 2;
    const [factorsAt = 0, sums = 0, squares = 0] = lend([factors.byteLength, groupsBytes, groupsBytes]);
    floats(factorsAt, factors.length).set(factors);
    const { drawsOfSpan } = partDraws(draws);
    await team.run("recombine", [draws, drawsOfSpan, seed, generation, factorsAt, sums, squares]);
    return {
      sums: new Float32Array(floats(sums, parameters)),
      squares: noise.squares ? new Float32Array(floats(squares, parameters)) : null,
    };
  }

  async function breed({ seed, generation, parents, elites, rate, sigma }: Breeding) {
    const [parentsAt = 0, children = 0] = lend([parents.byteLength, 4 * members * parameters]);
    new Uint32Array(memory.buffer, parentsAt, parents.length).set(parents);
    await team.run("breed", [members, seed, generation, elites, rate, sigma, parentsAt, children]);
    rows(0, members).set(floats(children, members * parameters));
  }

  async function evaluate(
    { seed, firstEpisode, episodes, firstMember = 0, commonRandom }: EpisodePlan,
    { signal, onProgress }: RolloutWatch = {},
  ): Promise<EpisodeResults> {
    if (signal !== undefined) assertWanted(signal);
    if (firstMember > 0) throw new RangeError("a population on the CPU is whole");
    const slots = members * episodes;
    const measureCount = slots * environment.measures;
    const at = lend([4 * slots, 4 * slots, slots, 4 * measureCount, members]);
    // Lanes with several episodes of a member at once need its weights only once.
    const atOnce = Math.max(1, Math.min(episodes, Math.floor(slots / (threads * LANES * TURNS))));
    const [returns = 0, lengths = 0, causes = 0, measures = 0, unsound = 0] = at;
    floats(measures, measureCount).fill(0);
    bytes(unsound, members).fill(0);
    taken[0] = 0;
    const watch = setInterval(() => {
      // No further episodes start, and running ones end.
      if (signal?.aborted) Atomics.store(taken, 0, slots);
      else onProgress?.(Math.min(slots, Atomics.load(taken, 0)), slots);
    }, REPORT_MS);
    try {
      const numbers = [members, episodes, firstEpisode, seed, environment.stepLimit, commonRandom ? 1 : 0, atOnce];
      await team.run("rollOut", [...numbers, ...at]);
    } finally {
      clearInterval(watch);
    }
    if (signal !== undefined) assertWanted(signal);
    onProgress?.(slots, slots);
    return {
      returns: new Float32Array(floats(returns, slots)),
      lengths: new Uint32Array(new Uint32Array(memory.buffer, lengths, slots)),
      causes: new Uint8Array(bytes(causes, slots)),
      measures: new Float32Array(floats(measures, measureCount)),
      unsound: new Uint8Array(bytes(unsound, members)),
      waves: 1,
    };
  }

  return {
    backend: "cpu-simd",
    members,
    parameters,
    async write(first, values) {
      rows(first, values.length / parameters).set(values);
    },
    read: async (first, count) => new Float32Array(rows(first, count)),
    perturb,
    recombine,
    breed,
    evaluate,
    release: team.release,
  };
}

/** Layers that a program allocates; the nodes of a graph form one of them. */
function layOutNodes(network: PolicyNetwork, environment: EnvironmentSpec): PolicyLayer[] {
  if (network.kind !== "graph") return layOutPolicy(network, environment);
  const outputs = layOutGraph(environment).firstHidden + network.hiddenNodes;
  return [{ inputs: 0, outputs, activation: "sigmoid", weightsAt: 0, biasAt: 0 }];
}

function pagesOf(bytes: number): number {
  return Math.ceil(bytes / PAGE_BYTES);
}

function assertFits(bytes: number): void {
  if (bytes <= MAX_BYTES) return;
  throw new ProblemError("out-of-memory", `${bytes} bytes are wanted, and a population has at most ${MAX_BYTES}`);
}

function grow(memory: WebAssembly.Memory, bytes: number): void {
  assertFits(bytes);
  const missing = pagesOf(bytes) - memory.buffer.byteLength / PAGE_BYTES;
  if (missing > 0) memory.grow(missing);
}

/** Threads that start late join the first round late; a thread that fails makes every run fail. */
function startTeam(module: WebAssembly.Module, memory: WebAssembly.Memory, places: ProgramPlaces, threads: number) {
  const shares = createWorkShares();
  const order = new Float64Array(new SharedArrayBuffer(8 * 16));
  const entry = new URL("cpu-worker.ts", import.meta.url);
  const workers = Array.from({ length: threads }, (_, thread) => {
    const work: CpuWork = { module, memory, places, thread, threads, shares, order };
    return new Worker(entry, { workerData: work });
  });
  const failed = Promise.race(
    workers.map(async (worker): Promise<never> => {
      const [error] = (await once(worker, "error")) as [Error];
      throw error;
    }),
  );
  failed.catch(() => {});
  return {
    run(name: WorkName, numbers: readonly number[]): Promise<void> {
      order.set([WORK.indexOf(name), ...numbers]);
      return Promise.race([failed, runRound(shares, threads)]);
    },
    release: async () => void (await Promise.all(workers.map((worker) => worker.terminate()))),
  };
}
