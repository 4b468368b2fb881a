import { CAUSES } from "../../../kernels/rollout/roll-out.reference.ts";
import type { EvaluatedEntrant } from "../../protocol/evaluation.ts";
import { mean } from "../../stats/mean.ts";
import { meanInterval } from "../../stats/mean-interval.ts";
import type { EpisodeResults } from "../rollout/population.ts";

/** The episodes of one entrant's members, the episodes of one member together. */
export type EntrantEpisodes = Pick<EpisodeResults, "returns" | "lengths" | "causes" | "unsound"> & {
  readonly episodes: number;
};

const TOLD_FAILURES = 100;
const TOLD_BEST = 10;

/** What one entrant's episodes come to, but for its scores, and the returns of the members that did not fail. */
export function describeEntrant({
  returns,
  lengths,
  causes,
  unsound,
  episodes,
}: EntrantEpisodes): Pick<
  EvaluatedEntrant,
  "members" | "meanLength" | "causes" | "failed" | "failedMembers" | "best"
> & { readonly sound: Float32Array<ArrayBuffer> } {
  const failed: { member: number; reason: string }[] = [];
  const means: EvaluatedEntrant["best"] = [];
  const sound = new Float32Array(returns.length);
  const counted = { terminated: 0, truncated: 0, both: 0 };
  let [kept, steps] = [0, 0];
  for (let member = 0; member < unsound.length; member++) {
    const from = member * episodes;
    const reason = findFailure(causes.subarray(from, from + episodes), unsound[member] === 1);
    if (reason !== null) {
      failed.push({ member, reason });
      continue;
    }
    const own = returns.subarray(from, from + episodes);
    sound.set(own, kept);
    kept += episodes;
    for (let at = from; at < from + episodes; at++) {
      const isBoth = causes[at] === (CAUSES.terminated | CAUSES.truncated);
      counted[isBoth ? "both" : causes[at] === CAUSES.terminated ? "terminated" : "truncated"]++;
      steps += lengths[at]!;
    }
    if (episodes > 0) means.push({ member, mean: mean(own), low: 0, high: 0 });
  }
  const best = means
    .toSorted((a, b) => b.mean - a.mean)
    .slice(0, TOLD_BEST)
    .map(({ member }) => {
      const { value, low, high } = meanInterval(returns.subarray(member * episodes, (member + 1) * episodes));
      return { member, mean: value, low, high };
    });
  return {
    members: unsound.length,
    meanLength: kept === 0 ? null : steps / kept,
    causes: counted,
    failed: failed.slice(0, TOLD_FAILURES),
    failedMembers: failed.length,
    best,
    sound: sound.slice(0, kept),
  };
}

function findFailure(causes: Uint8Array, isUnsound: boolean): string | null {
  if (isUnsound) return "has a weight that is NaN or infinite";
  const episode = causes.findIndex((cause) => (cause & CAUSES.failed) !== 0);
  return episode < 0 ? null : `gave an output, or got a reward, that is not finite, in episode ${episode}`;
}
