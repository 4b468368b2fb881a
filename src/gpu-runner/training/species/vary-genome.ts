import type { Chance, Genome, Ports } from "./genome.ts";
import { addConnection, addNode, type Bounds, type Innovations } from "./innovate.ts";

/**
 * Probability that a gene is disabled in the child where it is so in either parent.
 * Source: Stanley and Miikkulainen 2002, section 4.1.
 */
const INHERITED_DISABLING = 0.75;

/**
 * Child of two genomes: the structure of the fitter one, and either weight for common genes. Of equals the smaller
 * counts as fitter, so that a child has the nodes, and no more cycles, than one of its parents.
 */
export function crossOver(fitter: Genome, other: Genome, chance: Chance): Genome {
  const others = new Map(other.map((gene) => [gene.innovation, gene]));
  return fitter.map((gene) => {
    const match = others.get(gene.innovation);
    if (match === undefined) return gene;
    const { weight } = chance.happens(0.5) ? gene : match;
    const isDisabled = (!gene.enabled || !match.enabled) && chance.happens(INHERITED_DISABLING);
    return { ...gene, weight, enabled: !isDisabled };
  });
}

/** Probabilities of a child's changes, and the size of weight changes. */
export interface MutationRates {
  readonly addNode: number;
  readonly addConnection: number;
  /** Standard deviation of a weight's change. */
  readonly sigma: number;
}

/**
 * Probability that a child's weights change, and of each of them to be redrawn.
 * Source: Stanley and Miikkulainen 2002, section 4.1.
 */
const WEIGHTS = 0.8;
const RENEWAL = 0.1;
/** Probability that one connection of a child is toggled. */
const TOGGLE = 0.02;
/** Bound of a weight: beyond it every sigmoid is flat. */
const FARTHEST = 30;

/** Mutates a genome at random. */
export function mutate(
  genome: Genome,
  ports: Ports,
  bounds: Bounds,
  rates: MutationRates,
  innovations: Innovations,
  chance: Chance,
): Genome {
  let child = genome;
  if (chance.happens(rates.addNode)) child = addNode(child, ports, bounds, innovations, chance);
  if (chance.happens(rates.addConnection)) child = addConnection(child, ports, bounds, innovations, chance);
  if (chance.happens(TOGGLE)) child = toggle(child, chance);
  if (chance.happens(WEIGHTS)) child = moveWeights(child, rates.sigma, chance);
  return child;
}

function toggle(genome: Genome, chance: Chance): Genome {
  const chosen = chance.pick(genome);
  return genome.map((gene) => (gene === chosen ? { ...gene, enabled: !gene.enabled } : gene));
}

function moveWeights(genome: Genome, sigma: number, chance: Chance): Genome {
  return genome.map((gene) => {
    const weight = chance.happens(RENEWAL) ? chance.normal() : gene.weight + sigma * chance.normal();
    return { ...gene, weight: Math.min(FARTHEST, Math.max(-FARTHEST, weight)) };
  });
}
