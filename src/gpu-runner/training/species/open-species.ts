import { countOutputs } from "../../../../kernels/rollout/policy-layout.ts";
import type { SpeciesCensus } from "../../../protocol/training.ts";
import type { OpenStrategy } from "../strategy.ts";
import { encodeGenome } from "./encode-genome.ts";
import type { Genome } from "./genome.ts";
import { advanceLineage, beginLineage, type Lineage, type LineageRules } from "./lineage.ts";
import { restoreLineage, saveLineage } from "./save-lineage.ts";

interface SpeciesAlgorithm {
  readonly name: "species";
  readonly population: number;
  readonly addNode: number;
  readonly addConnection: number;
  readonly sigma: number;
}

/**
 * Graphs that grow and share their fitness in species (Stanley and Miikkulainen, "Evolving neural networks through
 * augmenting topologies", Evolutionary Computation 10, 2002). Genomes are the host's; a generation is written to the
 * population once, as rows of one length, and rolled out together however different its members are.
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
