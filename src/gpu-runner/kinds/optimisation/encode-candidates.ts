import type { Candidate } from "../../../protocol/jobs/optimisation.ts";

/** Candidate's coordinates: a level of each category, and a number of [0, 1] on each axis. */
export interface Point {
  readonly levels: readonly number[];
  readonly axes: readonly number[];
}

type Numbers = Readonly<Record<string, number>>;

/**
 * Candidates as points for the model, without categories and axes that are the same for all.
 * An axis spans its smallest to largest value, on a logarithmic scale where all are above 0, so that doubling is a
 * step.
 */
export function encodeCandidates(candidates: readonly Candidate[]): Point[] {
  const categories = [({ deviceKey, backend }: Candidate) => `${deviceKey} ${backend}`, (c: Candidate) => c.variant]
    .map((read) => [...new Set(candidates.map(read))].map((level) => ({ read, level })))
    .filter((levels) => levels.length > 1);
  const numbers = candidates.map(numbersOf);
  const scales = [...new Set(numbers.flatMap((each) => Object.keys(each)))]
    .map((name) => createScale(name, numbers))
    .filter((scale) => scale !== null);
  return candidates.map((candidate, index) => ({
    levels: categories.map((levels) => levels.findIndex(({ read, level }) => read(candidate) === level)),
    axes: scales.map((scale) => scale(numbers[index]!)),
  }));
}

/** Numeric settings of a candidate by name; tuning axes of other variants are set to their middle. */
function numbersOf({ variant, threads, maxRows, concurrency, axes = {} }: Candidate): Numbers {
  const own = Object.fromEntries(Object.entries(axes).map(([name, value]) => [`${variant} ${name}`, value]));
  return { threads, maxRows, concurrency, ...own };
}

function createScale(name: string, all: readonly Numbers[]): ((numbers: Numbers) => number) | null {
  const values = all.flatMap((numbers) => numbers[name] ?? []);
  const toAxis = values.every((value) => value > 0) ? Math.log2 : (value: number) => value;
  const low = toAxis(Math.min(...values));
  const range = toAxis(Math.max(...values)) - low;
  if (range === 0) return null;
  return ({ [name]: value }) => (value === undefined ? 0.5 : (toAxis(value) - low) / range);
}

/** Indices of the candidates that differ in one thing: another variant or device, or the next value of one setting. */
export function findNeighbours(candidates: readonly Candidate[], of: Candidate): number[] {
  const ranks = rankValues(candidates);
  const own = numbersOf(of);
  return [...candidates.keys()].filter((index) => {
    const candidate = candidates[index]!;
    const numbers = numbersOf(candidate);
    const isElsewhere = candidate.deviceKey !== of.deviceKey || candidate.backend !== of.backend;
    const differences = [Number(isElsewhere), Number(candidate.variant !== of.variant)];
    // Another variant has other axes.
    for (const name of candidate.variant === of.variant ? Object.keys(own) : ["threads", "maxRows", "concurrency"]) {
      differences.push(
        Math.abs((ranks.get(`${name} ${numbers[name]}`) ?? 0) - (ranks.get(`${name} ${own[name]}`) ?? 0)),
      );
    }
    return differences.reduce((sum, difference) => sum + difference, 0) === 1;
  });
}

/** Rank of every value among the values of its name. */
function rankValues(candidates: readonly Candidate[]): ReadonlyMap<string, number> {
  const entries = candidates.flatMap((candidate) => Object.entries(numbersOf(candidate)));
  const ranks = new Map<string, number>();
  for (const [name, same] of Map.groupBy(entries, ([key]) => key)) {
    const values = [...new Set(same.map(([, value]) => value))].toSorted((a, b) => a - b);
    for (const [rank, value] of values.entries()) ranks.set(`${name} ${value}`, rank);
  }
  return ranks;
}
