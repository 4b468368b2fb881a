/** A connection of a genome. Genes of one innovation are the same structure wherever they stand. */
export interface Gene {
  readonly innovation: number;
  /** Nodes by number, as policy-layout.ts has them; hidden ones have the number of their innovation. */
  readonly source: number;
  readonly target: number;
  readonly weight: number;
  readonly enabled: boolean;
}

/**
 * A network by its connections, in the order of their innovations (Stanley and Miikkulainen, "Evolving neural networks
 * through augmenting topologies", Evolutionary Computation 10, 2002). Nodes are those that connections name. No
 * connection leads from an output or into an input, and none closes a ring.
 */
export type Genome = readonly Gene[];

/** What a genome starts from: inputs, then the bias, then outputs. */
export interface Ports {
  readonly inputs: number;
  readonly outputs: number;
}

/** Nodes below this take nothing in: inputs and bias. */
export function countSources({ inputs }: Ports): number {
  return inputs + 1;
}

/** The first hidden node. */
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
