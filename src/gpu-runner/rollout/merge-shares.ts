import type { EpisodeResults } from "./population.ts";

/** Part of a rollout: some episodes of some members. */
export interface RolloutShare {
  readonly firstMember: number;
  readonly members: number;
  readonly firstEpisode: number;
  readonly episodes: number;
}

/** Puts the results of shares, which cover a rollout, in the order of the whole. Waves are those of the most parted. */
export function mergeShares(
  { members, episodes }: Pick<RolloutShare, "members" | "episodes">,
  parts: readonly { readonly share: RolloutShare; readonly results: EpisodeResults }[],
): EpisodeResults {
  const slots = members * episodes;
  const [first] = parts;
  const width = first === undefined ? 0 : first.results.measures.length / Math.max(1, first.results.returns.length);
  const merged = {
    returns: new Float32Array(slots),
    lengths: new Uint32Array(slots),
    causes: new Uint8Array(slots),
    measures: new Float32Array(slots * width),
    unsound: new Uint8Array(members),
    waves: Math.max(1, ...parts.map(({ results }) => results.waves)),
  };
  for (const { share, results } of parts) {
    merged.unsound.set(results.unsound, share.firstMember);
    for (let member = 0; member < share.members; member++) {
      const from = member * share.episodes;
      const to = (share.firstMember + member) * episodes + share.firstEpisode;
      merged.returns.set(results.returns.subarray(from, from + share.episodes), to);
      merged.lengths.set(results.lengths.subarray(from, from + share.episodes), to);
      merged.causes.set(results.causes.subarray(from, from + share.episodes), to);
      merged.measures.set(results.measures.subarray(from * width, (from + share.episodes) * width), to * width);
    }
  }
  return merged;
}
