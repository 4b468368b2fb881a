import type { TrialStand } from "../../src/gpu-runner/kinds/optimisation/search-problem.ts";
import { mean, median } from "../../src/stats/distribution/summary.ts";
import type { SearchEnd } from "./search.ts";

/** Throughputs by round: of what that round's search found, of what was best in all passes, and of what is served untuned. */
interface ContestEnds {
  readonly found: number[];
  readonly exhaustive: number[];
  readonly default: number[];
}

/** Measurements of one configuration in a round, of which the median counts. */
const TURNS = 3;

/**
 * Measures what was found anew, in turn: what chose it would flatter it. The best of the passes is the one of the
 * highest geometric mean. Where two are the same configuration, they are measured once: it would differ from itself by
 * the noise alone. `tell` is told the place of the best and of what each search found.
 */
export async function contest(
  stand: TrialStand,
  found: readonly SearchEnd[],
  passes: readonly (readonly number[])[],
  tell: (place: number) => void,
): Promise<ContestEnds> {
  const scores = passes[0]!.map((_, place) => mean(passes.map((pass) => Math.log(pass[place]!))));
  const best = scores.indexOf(Math.max(...scores));
  tell(best);
  const ends: ContestEnds = { found: [], exhaustive: [], default: [] };
  for (const { best: place } of found) {
    tell(place);
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
