import type { EvolutionSpec } from "../../protocol/jobs/evolution.ts";
import type { FleetDevice } from "../serving/device-fleet.ts";
import type { Workload } from "./kind.ts";
import { describeEnvironment } from "./steps/describe-run.ts";
import { computeOn, type UsedPool, usePool } from "./steps/use-pool.ts";

/**
 * One number per agent, larger for those NSGA-II prefers: lower front first, then less crowded, then lower index.
 * Source: Deb et al., 2002.
 */
export function rankAgents(ranks: ArrayLike<number>, distances: ArrayLike<number>): Float32Array<ArrayBuffer> {
  const order = Array.from({ length: ranks.length }, (_, agent) => agent).toSorted(
    (a, b) => ranks[a]! - ranks[b]! || distances[b]! - distances[a]! || a - b,
  );
  const fitness = new Float32Array(order.length);
  for (const [place, agent] of order.entries()) fitness[agent] = order.length - place;
  return fitness;
}

/** Most agents in the distance measurement, whose cost grows with every pair. */
const COMPARED_AGENTS = 512;
/** Numbers of each compared agent, as the kernel reads them. */
const COMPARED_NUMBERS = 1_024;

/** Computes a pool's next generation on a device; its states become the job's file. */
export const runEvolution: Workload<EvolutionSpec> = async (spec, context) => {
  const { fleet, residency, artifacts, otherJobs, signal, onProgress } = context;
  const { pool, timeoutMs } = spec;
  const { agents, stateSize } = pool;
  const device = fleet.withKernel("evolution-step");
  const environment = describeEnvironment(device.host.device, otherJobs);
  onProgress({ phase: "rank", done: 0, total: agents });
  const ranked = await rankBy(spec, device, signal);
  const used = await usePool(pool, device, context, timeoutMs);
  onProgress({ phase: "breed", done: 0, total: agents });
  const shape = {
    members: agents,
    genes: stateSize,
    tournament: spec.tournament,
    elites: Math.min(spec.elites, agents),
  };
  const inputs = {
    fitness: ranked.fitness,
    settings: Float32Array.of(spec.mutationRate, spec.sigma, spec.lowest, spec.highest),
    key: Int32Array.of(spec.seed, pool.generation + 1),
  };
  const { outputs, times } = await used.compute({ kernel: "evolution-step", shape, inputs });
  const children = outputs["children"] as Float32Array<ArrayBuffer>;
  const bytes = new Uint8Array(children.buffer, children.byteOffset, children.byteLength);
  onProgress({ phase: "store", done: agents, total: agents });
  const artifact = await artifacts.put("population", bytes);
  await residency.add(artifact.digest, bytes);
  const best = indexOfLargest(ranked.fitness);
  const result = {
    kind: "evolution" as const,
    pool: pool.name,
    generation: pool.generation + 1,
    artifact,
    best: { agent: best, fitness: spec.fitness?.[best] ?? null },
    fronts: ranked.fronts,
    diversity: await measureDiversity(used, children, spec, device, signal),
    place: used.place,
    computeMs: times.computeMs,
    environment,
  };
  return { result, deviceKey: device.host.device.key };
};

/** The fitness as given, or ranks from several objectives. */
async function rankBy(
  { fitness, objectives, timeoutMs }: EvolutionSpec,
  device: FleetDevice,
  signal: AbortSignal,
): Promise<{ fitness: Float32Array<ArrayBuffer>; fronts: number | null }> {
  if (objectives === undefined) return { fitness: Float32Array.from(fitness ?? []), fronts: null };
  const shape = { populations: 1, members: objectives.length, objectives: objectives[0]?.length ?? 1 };
  const values = Float32Array.from(objectives.flat());
  const options = { timeoutMs, signal };
  const ranking = { kernel: "non-dominated-rank", shape, inputs: { objectives: values } };
  const rank = (await computeOn(device, ranking, options)).outputs["rank"] as Int32Array<ArrayBuffer>;
  const crowding = { kernel: "crowding-distance", shape, inputs: { objectives: values, rank } };
  const distance = (await computeOn(device, crowding, options)).outputs["distance"] as Float32Array;
  return { fitness: rankAgents(rank, distance), fronts: 1 + rank.reduce((most, front) => Math.max(most, front), 0) };
}

async function measureDiversity(
  used: UsedPool,
  children: Float32Array<ArrayBuffer>,
  { pool: { agents, stateSize }, timeoutMs }: EvolutionSpec,
  device: FleetDevice,
  signal: AbortSignal,
): Promise<{ before: number; after: number; agents: number }> {
  const members = Math.min(agents, COMPARED_AGENTS);
  const genes = Math.min(stateSize, COMPARED_NUMBERS);
  const measure = async (states: Float32Array<ArrayBuffer>) => {
    const population = new Float32Array(members * genes);
    for (let agent = 0; agent < members; agent++) {
      population.set(states.subarray(agent * stateSize, agent * stateSize + genes), agent * genes);
    }
    const work = { kernel: "pairwise-distance", shape: { members, genes }, inputs: { population } };
    const { outputs } = await computeOn(device, work, { timeoutMs, signal });
    return outputs["diversity"]![0]!;
  };
  return { before: await measure(await used.read()), after: await measure(children), agents: members };
}

function indexOfLargest(values: Float32Array): number {
  return values.reduce((best, value, index) => (value > values[best]! ? index : best), 0);
}
