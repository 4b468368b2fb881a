export interface EffectSize {
  /** Cliff's δ in [−1, 1]: the chance that a value of B is above one of A, less the chance that it is below. */
  readonly delta: number;
  /** Vargha and Delaney's A = (δ + 1)/2: the chance that B is above A, ties by half. */
  readonly probabilityAbove: number;
  readonly word: "negligible" | "small" | "medium" | "large";
}

/**
 * How far two samples lie apart, from Mann and Whitney's U of A (Cliff, Psychological Bulletin, 1993; Vargha and
 * Delaney, Journal of Educational and Behavioral Statistics, 2000). The words are those of Romano, Kromrey,
 * Coraggio and Skowronek (Florida Association of Institutional Research, 2006).
 */
export function effectSize(u: number, countA: number, countB: number): EffectSize {
  const delta = 1 - (2 * u) / (countA * countB);
  return { delta, probabilityAbove: (delta + 1) / 2, word: wordOf(Math.abs(delta)) };
}

function wordOf(size: number): EffectSize["word"] {
  if (size < 0.147) return "negligible";
  if (size < 0.33) return "small";
  return size < 0.474 ? "medium" : "large";
}
