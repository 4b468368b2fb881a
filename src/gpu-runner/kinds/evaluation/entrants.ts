import { countParameters } from "../../../../kernels/rollout/policy-layout.ts";
import { CAUSES } from "../../../../kernels/rollout/roll-out.reference.ts";
import type { RolloutEnvironment } from "../../../protocol/fleet/rollout-environment.ts";
import type { Entrant, EvaluatedEntrant } from "../../../protocol/jobs/evaluation/evaluation.ts";
import type { PolicyNetwork } from "../../../protocol/models/policy-network.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { meanInterval } from "../../../stats/distribution/intervals.ts";
import { mean } from "../../../stats/distribution/summary.ts";
import type { EpisodeResults } from "../../rollout/population.ts";

/** Episodes of one entrant's members, grouped by member. */
export type EntrantEpisodes = Pick<EpisodeResults, "returns" | "lengths" | "causes" | "unsound"> & {
  readonly episodes: number;
};

const TOLD_FAILURES = 100;
const TOLD_BEST = 10;

/** Results of one entrant without its scores, and the returns of the members that did not fail. */
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

/** Entrants of one network form, rolled out as one population. */
export interface EntrantGroup {
  readonly network: PolicyNetwork;
  readonly parameters: number;
  readonly members: number;
  /** Weight rows of all members. */
  readonly weights: Float32Array<ArrayBuffer>;
  /** Index of each entrant's first member, by the entrant's place in the evaluation. */
  readonly firsts: ReadonlyMap<number, number>;
}

/**
 * Fetches the rows of all entrants and groups those of one form. Fails with `backend-failed` where rows do
 * not fit their network.
 */
export async function groupEntrants(
  entrants: readonly Entrant[],
  environment: Pick<RolloutEnvironment, "observationSize" | "action">,
  read: (digest: string) => Promise<Uint8Array>,
): Promise<EntrantGroup[]> {
  const forms = Map.groupBy(entrants.entries(), ([, { network }]) => JSON.stringify(network));
  const groups: EntrantGroup[] = [];
  for (const same of forms.values()) {
    const { network } = same[0]![1];
    const parameters = countParameters(network, environment);
    const members = same.reduce((sum, [, entrant]) => sum + entrant.members, 0);
    const weights = new Float32Array(members * parameters);
    const firsts = new Map<number, number>();
    let first = 0;
    for (const [place, entrant] of same) {
      weights.set(readRows(entrant, parameters, await read(entrant.digest)), first * parameters);
      firsts.set(place, first);
      first += entrant.members;
    }
    groups.push({ network, parameters, members, weights, firsts });
  }
  return groups.toSorted((a, b) => b.members - a.members);
}

function readRows(
  { name, members, parameters, offsetBytes }: Entrant,
  wanted: number,
  bytes: Uint8Array,
): Float32Array<ArrayBuffer> {
  if (parameters !== wanted) {
    const detail = `${name} has ${parameters} parameters a member, and its network in this environment has ${wanted}.`;
    throw new ProblemError("backend-failed", detail);
  }
  const rows = bytes.subarray(offsetBytes, offsetBytes + 4 * members * parameters);
  if (rows.length !== 4 * members * parameters) {
    throw new ProblemError("backend-failed", `The file of ${name} ends before its last member.`);
  }
  // Copied, since rows may start at any byte of the file.
  return new Float32Array(new Uint8Array(rows).buffer);
}
