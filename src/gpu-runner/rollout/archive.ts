import type { FiledElites } from "../../protocol/policies/archive-file.ts";

/** A grid over behaviour. Cells have numbers in C order: the last measure counts fastest. */
export interface ArchiveGrid {
  readonly dims: readonly number[];
  /** Bounds of each measure; what lies outside belongs to the outermost cells. */
  readonly ranges: readonly { readonly low: number; readonly high: number }[];
  /**
   * How fast a cell's threshold follows what comes there (Fontaine and Nikolaidis 2023, CMA-MAE); null: it is the
   * fitness of its elite.
   */
  readonly annealing: { readonly learningRate: number; readonly thresholdMin: number } | null;
}

/** What became of one that was offered, against the archive before its batch; the first three are pyribs' numbers. */
export const ADDITION = { notAdded: 0, improved: 1, new: 2, refused: 3 } as const;

/** What became of each of a batch. */
export interface Additions {
  /** Of `ADDITION`; `refused` where fitness or a measure is not finite. */
  readonly statuses: Uint8Array<ArrayBuffer>;
  /** Fitness above the cell's threshold, of a new cell above `thresholdMin` or, without one, 0; NaN of who is refused. */
  readonly values: Float32Array<ArrayBuffer>;
}

/** Elites in the order in which their cells were found; thresholds are what a newcomer's fitness has to be above. */
export type Elites = FiledElites;

/** How the next members are made of elites that are drawn at random. */
export interface Emission {
  readonly seed: number;
  readonly generation: number;
  /** Standard deviation of the noise of each parameter. */
  readonly sigma: number;
  /** Of the step along the line to a second elite (Vassiliades and Mouret 2018); 0: there is none. */
  readonly lineSigma: number;
  /** Bounds of every parameter. */
  readonly low: number;
  readonly high: number;
}

/**
 * The best member of a population for each kind of behaviour, with pyribs' semantics: one that is offered gets in where
 * its fitness is strictly above its cell's threshold; of a batch the best of them, the first of equals. Genomes are
 * kept where the population has its members. One call at a time.
 */
export interface Archive {
  readonly grid: ArchiveGrid;
  /** Elites, and their fitness and measures, as of now. */
  readonly filled: number;
  /** Offers the first members of the population: fitness, and members × measures. */
  add(fitness: Float32Array<ArrayBuffer>, measures: Float32Array<ArrayBuffer>): Promise<Additions>;
  /** Makes every member of the population a child of elites. Throws a `RangeError` where there is none. */
  emit(emission: Emission): Promise<void>;
  read(): Promise<Elites>;
  /** Takes the place of what is there. */
  write(elites: Elites): Promise<void>;
  release(): Promise<void>;
}

/**
 * The members that a search is to move towards, the best first. CMA-ME (Fontaine et al. 2020): those that got in, new
 * cells by fitness before improved ones by how much. CMA-MAE (2023): the better half by how far each is above its cell's
 * threshold. Of equal ones the first.
 */
export function rankAdditions({ statuses, values }: Additions, anneals: boolean): Uint32Array<ArrayBuffer> {
  const members = Array.from(statuses, (_, member) => member);
  const byValue = (a: number, b: number) => values[b]! - values[a]! || a - b;
  if (anneals) {
    const sound = members.filter((member) => statuses[member] !== ADDITION.refused).toSorted(byValue);
    return Uint32Array.from(sound.slice(0, Math.ceil(members.length / 2)));
  }
  const added = members.filter((member) => statuses[member] === ADDITION.new || statuses[member] === ADDITION.improved);
  return Uint32Array.from(added.toSorted((a, b) => statuses[b]! - statuses[a]! || byValue(a, b)));
}
