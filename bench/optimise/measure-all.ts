import type { TrialStand } from "../../src/gpu-runner/kinds/optimisation/search-problem.ts";

/** The throughput of every candidate of the space, each measured once. */
export async function measureAll(stand: TrialStand): Promise<number[]> {
  const throughputs: number[] = [];
  for (let place = 0; place < stand.eligible; place++) throughputs.push((await stand.measure(place)).throughputPerS);
  return throughputs;
}
