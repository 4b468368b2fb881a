import type { Candidate } from "../../protocol/optimisation.ts";
import { numbersOf } from "./encode-candidates.ts";

/**
 * Places of the candidates that differ from one in a single thing: another variant, another device, or the next
 * smaller or larger value of one setting.
 */
export function findNeighbours(candidates: readonly Candidate[], of: Candidate): number[] {
  const ranks = rankValues(candidates);
  const own = numbersOf(of);
  return [...candidates.keys()].filter((index) => {
    const candidate = candidates[index]!;
    const numbers = numbersOf(candidate);
    const isElsewhere = candidate.deviceKey !== of.deviceKey || candidate.backend !== of.backend;
    const differences = [Number(isElsewhere), Number(candidate.variant !== of.variant)];
    // The axes of another variant are others.
    for (const name of candidate.variant === of.variant ? Object.keys(own) : ["threads", "maxRows", "concurrency"]) {
      differences.push(
        Math.abs((ranks.get(`${name} ${numbers[name]}`) ?? 0) - (ranks.get(`${name} ${own[name]}`) ?? 0)),
      );
    }
    return differences.reduce((sum, difference) => sum + difference, 0) === 1;
  });
}

/** The place of every value among those of its name. */
function rankValues(candidates: readonly Candidate[]): ReadonlyMap<string, number> {
  const entries = candidates.flatMap((candidate) => Object.entries(numbersOf(candidate)));
  const ranks = new Map<string, number>();
  for (const [name, same] of Map.groupBy(entries, ([key]) => key)) {
    const values = [...new Set(same.map(([, value]) => value))].toSorted((a, b) => a - b);
    for (const [rank, value] of values.entries()) ranks.set(`${name} ${value}`, rank);
  }
  return ranks;
}
