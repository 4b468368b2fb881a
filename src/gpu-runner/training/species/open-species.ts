import { CONNECTION_NUMBERS, countOutputs } from "../../../../kernels/rollout/policy-layout.ts";
import type { SpeciesCensus } from "../../../protocol/jobs/training.ts";
import type { OpenStrategy } from "../strategy.ts";
import { countPorts, type Gene, type Genome, type Ports } from "./genome.ts";
import {
  advanceLineage,
  beginLineage,
  type Lineage,
  type LineageRules,
  restoreLineage,
  saveLineage,
} from "./lineage.ts";

/**
 * Genome as a row of a graph policy, `length` numbers (see policy-layout.ts): its enabled connections that are
 * reachable from an input or the bias, in topological order. A node without inputs has no effect. Hidden nodes are
 * renumbered.
 */
export function encodeGenome(genome: Genome, ports: Ports, length: number): Float32Array<ArrayBuffer> {
  const first = countPorts(ports);
  const enabled = genome.filter((gene) => gene.enabled);
  const order = orderHidden(enabled, first);
  const slots = new Map(order.map((node, index) => [node, first + index]));
  const outputs = Array.from({ length: ports.outputs }, (_, output) => first - ports.outputs + output);
  const slotOf = (node: number) => (node < first ? node : slots.get(node));
  const connections = [...order, ...outputs].flatMap((target) =>
    enabled.filter((gene) => gene.target === target && slotOf(gene.source) !== undefined),
  );
  const row = new Float32Array(length);
  row[0] = connections.length;
  for (const [index, { source, target, weight }] of connections.entries())
    row.set([slotOf(source)!, slotOf(target)!, weight], 1 + CONNECTION_NUMBERS * index);
  return row;
}

/** Reachable hidden nodes, each after all of its sources. */
function orderHidden(enabled: readonly Gene[], first: number): number[] {
  const incoming = Map.groupBy(
    enabled.filter(({ target }) => target >= first),
    ({ target }) => target,
  );
  const order: number[] = [];
  const visited = new Set<number>();
  const alive = new Set<number>();
  function visit(node: number): boolean {
    if (node < first) return true;
    if (visited.has(node)) return alive.has(node);
    visited.add(node);
    // Visits all of them, since each has to come before.
    const feeding = (incoming.get(node) ?? []).filter(({ source }) => visit(source));
    if (feeding.length === 0) return false;
    order.push(node);
    alive.add(node);
    return true;
  }
  for (const node of incoming.keys()) visit(node);
  return order;
}

interface SpeciesAlgorithm {
  readonly name: "species";
  readonly population: number;
  readonly addNode: number;
  readonly addConnection: number;
  readonly sigma: number;
}

/**
 * Graphs that grow and share their fitness in species (NEAT). Genomes are on the host. A generation is written to the
 * population once, as rows of one length, and rolled out together however much its members differ.
 * Source: Stanley and Miikkulainen, "Evolving neural networks through augmenting topologies", Evolutionary Computation
 * 10, 2002.
 */
export const openSpecies: OpenStrategy<SpeciesAlgorithm> = async (context) => {
  const { algorithm, environment, network, population, seed, saved } = context;
  if (network.kind !== "graph") throw new TypeError("species are made of graphs");
  const ports = { inputs: environment.observationSize, outputs: countOutputs(environment.action) };
  const rules: LineageRules = { ports, bounds: network, rates: algorithm, seed };
  const { members, parameters } = population;
  const kept = saved === null ? null : restoreLineage(saved, members);
  let lineage: Lineage = kept?.lineage ?? beginLineage(members, rules);
  let champion: Genome = kept?.champion ?? lineage.population[0]!;
  let census: SpeciesCensus | null = null;
  return {
    async ask() {
      const rows = new Float32Array(members * parameters);
      for (const [member, genome] of lineage.population.entries())
        rows.set(encodeGenome(genome, ports, parameters), member * parameters);
      await population.write(0, rows);
    },
    async tell({ fitness }) {
      ({ lineage, champion, census } = advanceLineage(lineage, fitness, rules));
    },
    policy: async () => encodeGenome(champion, ports, parameters),
    save: async () => saveLineage({ lineage, champion }),
    takeCensus: () => census,
  };
};
