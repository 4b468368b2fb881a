import type { ComparedPair } from "../../protocol/comparison.ts";
import { adjustPValues } from "../../stats/benjamini-hochberg.ts";

/**
 * Takes back what could as well be chance among so many pairs. Samples within runs are a family of their own: their
 * tiny p-values tell nothing of the noise between runs, and must not lend it to those of runs.
 */
export function adjustVerdicts(pairs: readonly Omit<ComparedPair, "adjustedP">[], confidence: number): ComparedPair[] {
  const adjusted = new Map<Omit<ComparedPair, "adjustedP">, number>();
  for (const within of [true, false]) {
    const family = pairs.filter(({ observation, p }) => p !== null && (observation === "samples") === within);
    const ps = adjustPValues(family.map(({ p }) => p ?? 1));
    for (const [index, pair] of family.entries()) adjusted.set(pair, ps[index] ?? 1);
  }
  return pairs.map((pair) => {
    const adjustedP = adjusted.get(pair) ?? null;
    const claims = pair.verdict === "better" || pair.verdict === "worse";
    if (!claims || adjustedP === null || adjustedP < 1 - confidence) return { ...pair, adjustedP };
    const found = Number(adjustedP.toPrecision(2));
    const warning = `By itself this would be ${pair.verdict}; among ${pairs.length} pairs it may be chance (adjusted p = ${found}).`;
    return { ...pair, adjustedP, verdict: "unclear", warnings: [...pair.warnings, warning] };
  });
}
