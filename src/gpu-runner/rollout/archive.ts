import type { FiledElites } from "../../protocol/policies/archive-file.ts";

/** Grid over behaviour. Cells have numbers in C order: the last measure varies fastest. */
export interface ArchiveGrid {
  readonly dims: readonly number[];
  /** Bounds of each measure; values outside belong to the outermost cells. */
  readonly ranges: readonly { readonly low: number; readonly high: number }[];
  /**
   * Learning rate of a cell's threshold, and its first value; null: the threshold is the fitness of its elite.
   * Source: CMA-MAE, Fontaine and Nikolaidis 2023.
   */
  readonly annealing: { readonly learningRate: number; readonly thresholdMin: number } | null;
}

/** Status of an offered member, against the archive before its batch; the first three are pyribs' numbers. */
export const ADDITION = { notAdded: 0, improved: 1, new: 2, refused: 3 } as const;

/** Outcome of each member of a batch. */
export interface Additions {
  /** Values of `ADDITION`; `refused` where fitness or a measure is not finite. */
  readonly statuses: Uint8Array<ArrayBuffer>;
  /**
   * Fitness minus the cell's threshold; for a new cell minus `thresholdMin` or, without one, 0; NaN for refused
   * members.
   */
  readonly values: Float32Array<ArrayBuffer>;
}

/** Elites in the order in which their cells were found; a new member's fitness must exceed the threshold. */
export type Elites = FiledElites;

/** Settings of the next members, which are made of randomly drawn elites. */
export interface Emission {
  readonly seed: number;
  readonly generation: number;
  /** Standard deviation of the noise of each parameter. */
  readonly sigma: number;
  /**
   * Deviation of the step along the line to a second elite; 0 for none.
   * Source: Vassiliades and Mouret 2018.
   */
  readonly lineSigma: number;
  /** Bounds of every parameter. */
  readonly low: number;
  readonly high: number;
}

/**
 * Best member of a population for each kind of behaviour, with pyribs' semantics: a member is added where its fitness
 * is strictly above its cell's threshold. Of several in a batch the best is added, of equal ones the first. Genomes are
 * kept where the population has its members. One call at a time.
 */
export interface Archive {
  readonly grid: ArchiveGrid;
  /** Number of elites, and their fitness and measures, at present. */
  readonly filled: number;
  /** Offers the first members of the population, by fitness and members × measures. */
  add(fitness: Float32Array<ArrayBuffer>, measures: Float32Array<ArrayBuffer>): Promise<Additions>;
  /** Replaces every member of the population with a child of elites. Throws a `RangeError` where there is none. */
  emit(emission: Emission): Promise<void>;
  read(): Promise<Elites>;
  /** Replaces the elites. */
  write(elites: Elites): Promise<void>;
  release(): Promise<void>;
}

/**
 * Members that a search moves towards, best first. CMA-ME: added members, new cells by fitness before improved ones by
 * gain. CMA-MAE: the better half by fitness above the cell's threshold. Equal ones keep their order.
 * Source: Fontaine et al. 2020 (CMA-ME); Fontaine and Nikolaidis 2023 (CMA-MAE).
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
