/** Link protocols that an edge speaks. */
export interface SpokenProtocols {
  /** The edge's release. */
  readonly release: string;
  readonly protocols: readonly string[];
}

/**
 * Reason why runner and edge cannot communicate, with the release to install; null where they share a protocol. Both
 * ends give it, since a failed handshake gives its caller no reason.
 */
export function explainMismatch({ release, protocols }: SpokenProtocols, offered: readonly string[]): string | null {
  if (offered.some((protocol) => protocols.includes(protocol))) return null;
  const spoken = protocols.join(" and ");
  const other = offered.length === 0 ? "the runner offers none" : `the runner ${offered.join(" and ")}`;
  const isEdgeOlder = Math.max(...offered.map(numberOf)) > Math.max(...protocols.map(numberOf));
  const mend = isEdgeOlder
    ? `bring the edge to the runner's release, or install release ${release} of the runner`
    : `install release ${release} of the runner`;
  return `The edge is release ${release} and speaks ${spoken}, ${other}: ${mend}.`;
}

/** Number of a protocol: 3 for `millrace.v3`, 0 for an unknown one. */
function numberOf(protocol: string): number {
  return Number(/^millrace\.v(\d{1,6})$/.exec(protocol)?.[1] ?? 0);
}

/** The release that edge and runner report. */
export const VERSION = "0.1.0";
