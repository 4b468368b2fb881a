import type { Chance } from "./chance.ts";
import type { Genome, Ports } from "./genome.ts";
import { addConnection, addNode, type Bounds, type Innovations } from "./innovate.ts";

/** Probabilities of a child's changes, and how far weights move. */
export interface MutationRates {
  readonly addNode: number;
  readonly addConnection: number;
  /** Of a normal draw, by which a weight moves. */
  readonly sigma: number;
}

/** That the weights of a child change at all, and then of each that it begins anew (Stanley and Miikkulainen 2002, section 4.1). */
const WEIGHTS = 0.8;
const RENEWAL = 0.1;
/** That one connection of a child is switched on or off. */
const TOGGLE = 0.02;
/** Farther out every sigmoid is flat. */
const FARTHEST = 30;

/** A genome with what chance changes in it. */
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
