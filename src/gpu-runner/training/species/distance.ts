import type { Genome } from "./genome.ts";

/** Weights of the parts of a distance. */
export const DISTANCE = { excess: 1, disjoint: 1, weight: 0.4 } as const;

/**
 * How unlike two genomes are: δ = c₁E/N + c₂D/N + c₃W̄ (Stanley and Miikkulainen 2002, equation 1), with E genes beyond
 * the other's last innovation, D other genes that one of them lacks, N genes of the larger one, and W̄ the mean
 * difference of weights of the genes that both have.
 */
export function measureDistance(a: Genome, b: Genome): number {
  const size = Math.max(a.length, b.length);
  if (size === 0) return 0;
  let [atA, atB, matching, disjoint, difference] = [0, 0, 0, 0, 0];
  while (atA < a.length && atB < b.length) {
    const [geneA, geneB] = [a[atA]!, b[atB]!];
    if (geneA.innovation === geneB.innovation) {
      matching++;
      difference += Math.abs(geneA.weight - geneB.weight);
    } else disjoint++;
    if (geneA.innovation <= geneB.innovation) atA++;
    if (geneB.innovation <= geneA.innovation) atB++;
  }
  const excess = a.length - atA + (b.length - atB);
  const meanDifference = matching === 0 ? 0 : difference / matching;
  return (DISTANCE.excess * excess + DISTANCE.disjoint * disjoint) / size + DISTANCE.weight * meanDifference;
}
