/** What an edge says of the protocols of the link that it speaks. */
export interface SpokenProtocols {
  /** The edge's release. */
  readonly release: string;
  readonly protocols: readonly string[];
}

/**
 * Why runner and edge cannot understand each other, with the release to install; null where they have a protocol in
 * common. Both ends say it: a handshake that failed tells its caller nothing.
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

/** Of `millrace.v3` 3; of what is none of ours 0. */
function numberOf(protocol: string): number {
  return Number(/^millrace\.v(\d{1,6})$/.exec(protocol)?.[1] ?? 0);
}

/** The release that edge and runner report. */
export const VERSION = "0.1.0";
