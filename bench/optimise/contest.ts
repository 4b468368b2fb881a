import type { TrialStand } from "../../src/gpu-runner/kinds/optimisation/search-problem.ts";
import { mean, median } from "../../src/stats/distribution/summary.ts";
import type { SearchEnd } from "./search.ts";

/** Throughputs by round: of that round's search result, of the best of all passes, and of the untuned default. */
interface ContestEnds {
  readonly found: number[];
  readonly exhaustive: number[];
  readonly default: number[];
}

/** Measurements of one configuration in a round; their median counts. */
const TURNS = 3;

/**
 * Measures the results again, in turn: the measurement that chose them would flatter them. The best of the passes has
 * the highest geometric mean. Equal configurations are measured once: otherwise they would differ by noise. `report`
 * receives the place of the best and of each search's result.
 */
export async function contest(
  stand: TrialStand,
  found: readonly SearchEnd[],
  passes: readonly (readonly number[])[],
  report: (place: number) => void,
): Promise<ContestEnds> {
  const scores = passes[0]!.map((_, place) => mean(passes.map((pass) => Math.log(pass[place]!))));
  const best = scores.indexOf(Math.max(...scores));
  report(best);
  const ends: ContestEnds = { found: [], exhaustive: [], default: [] };
  for (const { best: place } of found) {
    report(place);
    const throughputs = await measureInTurn(stand, new Set([place, best, stand.standing!]));
    ends.found.push(throughputs.get(place)!);
    ends.exhaustive.push(throughputs.get(best)!);
    ends.default.push(throughputs.get(stand.standing!)!);
  }
  return ends;
}

/** The median throughput of each place. */
async function measureInTurn(stand: TrialStand, places: ReadonlySet<number>): Promise<Map<number, number>> {
  const measured = new Map([...places].map((place) => [place, [] as number[]]));
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [place, values] of measured) values.push((await stand.measure(place)).throughputPerS);
  }
  return new Map([...measured].map(([place, values]) => [place, median(values)]));
}
