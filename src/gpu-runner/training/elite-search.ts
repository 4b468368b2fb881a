import {
  type ArchiveDescription,
  encodeArchive,
  type FiledElites,
  sizeOfElites,
} from "../../protocol/policies/archive-file.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { ArchiveSummary } from "../../protocol/policies/archive.ts";
import type { LeftFile, MemberResults, StrategyContext, StrategyState } from "./strategy.ts";
import type { CmaMe, MapElites } from "../../protocol/jobs/training.ts";
import type { Additions, Archive, ArchiveGrid } from "../rollout/archive.ts";
import { openHostArchive } from "./host-archive.ts";
import { regridElites } from "../rollout/elite-book.ts";

/** State of an algorithm with an archive, independent of how it makes members. */
export interface EliteSearch {
  /** Archive that judges new members. */
  readonly archive: Archive;
  tell(results: MemberResults): Promise<Additions>;
  /** The best genome so far. */
  policy(): Promise<Float32Array<ArrayBuffer>>;
  save(): Promise<StrategyState>;
  leave(): Promise<LeftFile[]>;
  summarise(): Promise<ArchiveSummary>;
  release(): Promise<void>;
}

/** Default cells along each axis, by the number of axes. */
const STANDARD_DIMS = [[], [10_000], [100, 100], [22, 22, 22], [10, 10, 10, 10]] as const;
/** Share of a file for an archive; the rest is for its header. */
const ELITES_SHARE = 0.99;

const ARRAYS = ["cells", "fitness", "measures", "thresholds", "genomes"] as const;

/**
 * Opens the archive of a search: as saved, or with the given elites, each in the cell of its measures. With annealed
 * thresholds, elites may be replaced by worse ones; then the best of each cell are kept in a second archive, which
 * becomes the result, as in CMA-MAE.
 */
export async function openEliteSearch(context: StrategyContext<MapElites | CmaMe>): Promise<EliteSearch> {
  const { network, population, saved, elites } = context;
  if (network.kind === "graph") {
    const message = "must not be graph: noise in a graph's numbers is another graph, or none";
    throw new ProblemError("invalid-request", "An archive is of networks of one form.", {
      errors: [{ pointer: "#/network/kind", message }],
    });
  }
  const grid = gridOf(context);
  const open = async (own: ArchiveGrid) => (await population.openArchive?.(own)) ?? openHostArchive(population, own);
  const archive = await open(grid);
  const results = grid.annealing === null ? archive : await open({ ...grid, annealing: null });
  const archives = results === archive ? [results] : [results, archive];
  const given = elites === undefined ? null : regridElites(elites, grid);
  for (const each of archives) {
    const own = saved === null ? given : readElites(saved, each === archive ? "elites" : "results");
    if (own !== null) await each.write(own);
  }
  let best = saved === null ? bestOf(given) : readBest(saved);
  const read = async () => encodeArchive(describeArchive(context, grid), await results.read());
  return {
    archive,
    async tell({ fitness, measures }) {
      const offered = Float32Array.from(fitness);
      const behaviour = Float32Array.from(measures);
      const member = indexOfBest(offered);
      if (offered[member]! > (best?.fitness ?? Number.NEGATIVE_INFINITY)) {
        best = { fitness: offered[member]!, genome: await population.read(member, 1) };
      }
      if (results !== archive) await results.add(offered, behaviour);
      return archive.add(offered, behaviour);
    },
    async policy() {
      if (best === null) throw new TypeError("no generation was evaluated yet");
      return best.genome;
    },
    async save() {
      const states = archives.map(async (each) =>
        writeElites(await each.read(), each === archive ? "elites" : "results"),
      );
      const { fitness, genome } = best ?? { fitness: Number.NaN, genome: new Float32Array(0) };
      return Object.assign({ best: genome, bestFitness: Float64Array.of(fitness) }, ...(await Promise.all(states)));
    },
    async leave() {
      const { bytes } = await read();
      return [{ name: "archive", mediaType: "application/octet-stream", bytes }];
    },
    summarise: async () => (await read()).summary,
    async release() {
      for (const each of archives) await each.release();
    },
  };
}

/** Fewer cells where genomes are so large that a full archive would not fit into a file. */
function standardDims(measures: number, parameters: number): number[] {
  const most = (ELITES_SHARE * LIMITS.jobArtifactBytes) / sizeOfElites(1, parameters, measures);
  const longest = Math.max(1, Math.floor(most ** (1 / measures)));
  return (STANDARD_DIMS[measures] ?? []).map((size) => Math.min(size, longest));
}

function gridOf({ algorithm, environment, population }: StrategyContext<MapElites | CmaMe>): ArchiveGrid {
  const dims = algorithm.dims ?? standardDims(environment.measures, population.parameters);
  if (dims.length === 0 || dims.length !== environment.measures) {
    throw new RangeError(`${environment.name} has ${environment.measures} measures, not ${dims.length}`);
  }
  const anneals = algorithm.name === "cma-me" && algorithm.learningRate < 1;
  const offset = offsetOf({ algorithm, environment });
  return {
    dims,
    ranges: dims.map(() => ({ low: 0, high: 1 })),
    annealing: anneals
      ? { learningRate: algorithm.learningRate, thresholdMin: algorithm.thresholdMin ?? offset }
      : null,
  };
}

function offsetOf({ algorithm, environment }: Pick<StrategyContext<MapElites | CmaMe>, "algorithm" | "environment">) {
  return algorithm.offset ?? environment.scores.worst;
}

function describeArchive(
  context: StrategyContext<MapElites | CmaMe>,
  { dims, ranges }: ArchiveGrid,
): ArchiveDescription {
  const { environment, network, population } = context;
  return {
    environment: environment.name,
    network,
    parameters: population.parameters,
    dims: [...dims],
    ranges: [...ranges],
    offset: offsetOf(context),
    prunedFrom: null,
  };
}

interface Best {
  readonly fitness: number;
  readonly genome: Float32Array<ArrayBuffer>;
}

function bestOf(elites: FiledElites | null): Best | null {
  if (elites === null || elites.cells.length === 0) return null;
  const { fitness, genomes } = elites;
  const parameters = genomes.length / fitness.length;
  const index = indexOfBest(fitness);
  return { fitness: fitness[index]!, genome: genomes.slice(index * parameters, (index + 1) * parameters) };
}

/** Index of the first of the largest numbers; NaN is ignored. */
function indexOfBest(fitness: Float32Array): number {
  let best = 0;
  for (const [index, value] of fitness.entries())
    if (value > fitness[best]! || Number.isNaN(fitness[best]!)) best = index;
  return best;
}

function readBest(saved: StrategyState): Best | null {
  const genome = take(saved, "best", Float32Array);
  const [fitness = Number.NaN] = take(saved, "bestFitness", Float64Array);
  return Number.isNaN(fitness) ? null : { fitness, genome };
}

function writeElites(elites: FiledElites, name: string): StrategyState {
  return Object.fromEntries(ARRAYS.map((array) => [`${name}.${array}`, elites[array]]));
}

function readElites(saved: StrategyState, name: string): FiledElites {
  return {
    cells: take(saved, `${name}.cells`, Uint32Array),
    fitness: take(saved, `${name}.fitness`, Float32Array),
    measures: take(saved, `${name}.measures`, Float32Array),
    thresholds: take(saved, `${name}.thresholds`, Float32Array),
    genomes: take(saved, `${name}.genomes`, Float32Array),
  };
}

function take<Kind extends StrategyState[string]>(
  saved: StrategyState,
  name: string,
  kind: new (length: number) => Kind,
): Kind {
  const array = saved[name];
  if (!(array instanceof kind)) throw new RangeError(`the saved state has no '${name}'`);
  return array;
}
