import type { Chance } from "./chance.ts";
import type { Genome } from "./genome.ts";

/** That a gene is disabled in the child where it is so in either parent (Stanley and Miikkulainen 2002, section 4.1). */
const INHERITED_DISABLING = 0.75;

/**
 * The child of two genomes: the structure of the fitter one, and of genes that both have either's weight. Of equals the
 * smaller counts as the fitter, so that a child has the nodes and no more rings than one of its parents.
 */
export function crossOver(fitter: Genome, other: Genome, chance: Chance): Genome {
  const others = new Map(other.map((gene) => [gene.innovation, gene]));
  return fitter.map((gene) => {
    const match = others.get(gene.innovation);
    if (match === undefined) return gene;
    const { weight } = chance.happens(0.5) ? gene : match;
    const isDisabled = (!gene.enabled || !match.enabled) && chance.happens(INHERITED_DISABLING);
    return { ...gene, weight, enabled: !isDisabled };
  });
}
