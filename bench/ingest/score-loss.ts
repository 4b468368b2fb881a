/** What became of points that all were acknowledged. */
export interface Loss {
  readonly lostPoints: number;
  readonly duplicatePoints: number;
}

/** Tells it by the values, of which each point has its own. */
export function scoreLoss(sent: readonly number[], stored: readonly number[]): Loss {
  const found = new Set(stored);
  const lostPoints = sent.filter((value) => !found.has(value)).length;
  return { lostPoints, duplicatePoints: stored.length - found.size };
}
