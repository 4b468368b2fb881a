import { mean } from "../../stats/mean.ts";
import type { Measured } from "./judge-measurement.ts";

/** Several measurements of one candidate as one: geometric means of what varies by shares, the largest memory. */
export function poolMeasurements(rounds: readonly Measured[]): Measured {
  const [first, ...others] = rounds;
  if (first !== undefined && others.length === 0) return first;
  const geometric = (read: (round: Measured) => number) => Math.exp(mean(rounds.map((round) => Math.log(read(round)))));
  const known = rounds.map(({ memoryBytes }) => memoryBytes).filter((bytes) => bytes !== null);
  return {
    throughputPerS: geometric(({ throughputPerS }) => throughputPerS),
    latencyMs: geometric(({ latencyMs }) => latencyMs),
    memoryBytes: known.length === 0 ? null : Math.max(...known),
    fidelity: first?.fidelity ?? null,
  };
}
