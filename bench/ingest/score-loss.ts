/** Outcome of acknowledged points. */
export interface Loss {
  readonly lostPoints: number;
  readonly duplicatePoints: number;
}

/** Compares points by their values, which are unique. */
export function scoreLoss(sent: readonly number[], stored: readonly number[]): Loss {
  const found = new Set(stored);
  const lostPoints = sent.filter((value) => !found.has(value)).length;
  return { lostPoints, duplicatePoints: stored.length - found.size };
}
