/** When a pass ran, on the GPU's clock. */
export interface PassSpan {
  readonly startNs: number;
  readonly endNs: number;
}

/**
 * The share of a window in which at least one pass ran: the length of the union of the spans inside it
 * over its own length. The spans are in order of their starts. 0 for an empty window.
 */
export function busyShare(spans: readonly PassSpan[], fromNs: number, toNs: number): number {
  let busyNs = 0;
  let coveredToNs = fromNs;
  for (const { startNs, endNs } of spans) {
    const beginNs = Math.max(startNs, coveredToNs);
    const finishNs = Math.min(endNs, toNs);
    if (finishNs <= beginNs) continue;
    busyNs += finishNs - beginNs;
    coveredToNs = finishNs;
  }
  return toNs > fromNs ? busyNs / (toNs - fromNs) : 0;
}
