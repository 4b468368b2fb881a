import { normalQuantile } from "../../../stats/distribution/normal.ts";
import { createDraws, toUniform } from "../../../stats/random/draws.ts";

/** Sequence of random choices. */
export interface Chance {
  /** In [0, 1). */
  uniform(): number;
  normal(): number;
  happens(probability: number): boolean;
  /** One of this many items, from 0. */
  below(count: number): number;
  pick<Thing>(things: readonly Thing[]): Thing;
}

/** Random choices of one child of one generation, independent of other draws. */
export function createChance(key: {
  readonly seed: number;
  readonly stream: number;
  readonly generation: number;
  readonly child: number;
}): Chance {
  const draws = createDraws({ ...key, member: key.child, episode: key.generation, step: 0 });
  let words: readonly number[] = [];
  let at = 0;
  function uniform(): number {
    if (at === words.length) {
      words = draws.words();
      at = 0;
    }
    return toUniform(words[at++]!);
  }
  const below = (count: number) => Math.floor(uniform() * count);
  return {
    uniform,
    normal: () => normalQuantile(uniform() + 2 ** -25),
    happens: (probability) => uniform() < probability,
    below,
    pick: (things) => things[below(things.length)]!,
  };
}

/** Connection of a genome. Genes of one innovation are the same structure in every genome. */
export interface Gene {
  readonly innovation: number;
  /** Node numbers as in policy-layout.ts; hidden ones have the number of their innovation. */
  readonly source: number;
  readonly target: number;
  readonly weight: number;
  readonly enabled: boolean;
}

/**
 * Network as its connections, in the order of their innovations. Nodes are those that connections name. No connection
 * leads from an output or into an input, and none closes a cycle.
 * Source: Stanley and Miikkulainen, "Evolving neural networks through augmenting topologies", Evolutionary Computation
 * 10, 2002.
 */
export type Genome = readonly Gene[];

/** Fixed nodes of a genome: inputs, then the bias, then outputs. */
export interface Ports {
  readonly inputs: number;
  readonly outputs: number;
}

/** Number of nodes without incoming connections: inputs and bias. */
export function countSources({ inputs }: Ports): number {
  return inputs + 1;
}

/** Number of the first hidden node. */
export function countPorts({ inputs, outputs }: Ports): number {
  return inputs + 1 + outputs;
}

/** Hidden nodes that connections name, ascending. */
export function listHidden(genome: Genome, ports: Ports): number[] {
  const first = countPorts(ports);
  const nodes = genome.flatMap(({ source, target }) => [source, target]).filter((node) => node >= first);
  return [...new Set(nodes)].toSorted((a, b) => a - b);
}

/** Whether a path of connections, enabled or not, leads from one node to another. */
export function leadsTo(genome: Genome, from: number, to: number): boolean {
  const reached = new Set([from]);
  const open = [from];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node === to) return true;
    for (const { source, target } of genome) {
      if (source !== node || reached.has(target)) continue;
      reached.add(target);
      open.push(target);
    }
  }
  return false;
}
