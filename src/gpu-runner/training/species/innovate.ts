import {
  type Chance,
  countPorts,
  countSources,
  type Gene,
  type Genome,
  leadsTo,
  listHidden,
  type Ports,
} from "./genome.ts";

/** Numbers of new structure. */
export interface Innovations {
  /** Next number of a gene, and of a node. */
  readonly next: { innovation: number; node: number };
  /** New structure in this generation, so that the same structure gets the same numbers. */
  readonly made: Map<string, number>;
}

/** Numbers that continue from others, in a new generation. */
export function beginInnovations(next: { readonly innovation: number; readonly node: number }): Innovations {
  return { next: { ...next }, made: new Map() };
}

/** Limits of a genome's structure. */
export interface Bounds {
  readonly hiddenNodes: number;
  readonly connections: number;
}

/** Pairs of nodes that are tried for a connection. */
const DRAWS = 20;

/** Connects every input and the bias to every output. Weights are standard normal. */
export function createGenome(ports: Ports, chance: Chance): Genome {
  const sources = countSources(ports);
  return Array.from({ length: sources * ports.outputs }, (_, innovation) => ({
    innovation,
    source: innovation % sources,
    target: sources + Math.floor(innovation / sources),
    weight: chance.normal(),
    enabled: true,
  }));
}

/** First numbers after those of `createGenome`. */
export function firstInnovations(ports: Ports): Innovations["next"] {
  return { innovation: countSources(ports) * ports.outputs, node: countPorts(ports) };
}

/**
 * Splits an enabled connection: it is disabled, one of weight 1 leads from its source to a new node, and one of its
 * weight from there on, so that little changes at first. Returns the genome unchanged where there is no room or no
 * connection to split.
 */
export function addNode(
  genome: Genome,
  ports: Ports,
  { hiddenNodes, connections }: Bounds,
  innovations: Innovations,
  chance: Chance,
): Genome {
  const enabled = genome.filter((gene) => gene.enabled);
  const hasRoom = genome.length + 2 <= connections && listHidden(genome, ports).length < hiddenNodes;
  if (!hasRoom || enabled.length === 0) return genome;
  const split = chance.pick(enabled);
  const node = numberOf(innovations, `node ${split.innovation}`, "node");
  const { source, target, weight } = split;
  return sorted([
    ...genome.map((gene) => (gene === split ? { ...gene, enabled: false } : gene)),
    createGene(innovations, source, node, 1),
    createGene(innovations, node, target, weight),
  ]);
}

/**
 * Connects two unconnected nodes without a cycle; enables the connection where it was disabled. Returns the genome
 * unchanged where a few draws find no such pair.
 */
export function addConnection(
  genome: Genome,
  ports: Ports,
  { connections }: Bounds,
  innovations: Innovations,
  chance: Chance,
): Genome {
  const hidden = listHidden(genome, ports);
  const sources = countSources(ports);
  const from = [...range(0, sources), ...hidden];
  const to = [...range(sources, ports.outputs), ...hidden];
  for (let draw = 0; draw < DRAWS; draw++) {
    const [source, target] = [chance.pick(from), chance.pick(to)];
    const present = genome.find((gene) => gene.source === source && gene.target === target);
    if (present?.enabled === true || leadsTo(genome, target, source)) continue;
    if (present !== undefined) return genome.map((gene) => (gene === present ? { ...gene, enabled: true } : gene));
    if (genome.length >= connections) return genome;
    return sorted([...genome, createGene(innovations, source, target, chance.normal())]);
  }
  return genome;
}

function createGene(innovations: Innovations, source: number, target: number, weight: number): Gene {
  const innovation = numberOf(innovations, `${source} ${target}`, "innovation");
  return { innovation, source, target, weight, enabled: true };
}

function numberOf({ next, made }: Innovations, structure: string, kind: "innovation" | "node"): number {
  const number = made.get(structure) ?? next[kind]++;
  made.set(structure, number);
  return number;
}

function sorted(genome: Genome): Genome {
  return genome.toSorted((a, b) => a.innovation - b.innovation);
}

function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index);
}
