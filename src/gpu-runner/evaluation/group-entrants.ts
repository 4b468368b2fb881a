import { countParameters } from "../../../kernels/rollout/policy-layout.ts";
import type { Entrant } from "../../protocol/evaluation.ts";
import type { PolicyNetwork } from "../../protocol/policy-network.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { RolloutEnvironment } from "../../protocol/rollout-environment.ts";

/** Entrants of one form, which are rolled out as one population. */
export interface EntrantGroup {
  readonly network: PolicyNetwork;
  readonly parameters: number;
  readonly members: number;
  /** Rows of all members. */
  readonly weights: Float32Array<ArrayBuffer>;
  /** Where the members of each entrant begin, by its place in the evaluation. */
  readonly firsts: ReadonlyMap<number, number>;
}

/** Fetches the rows of all entrants and puts those of one form together. Fails with `backend-failed` where some are none. */
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
  // A copy: rows may stand at any byte of the file.
  return new Float32Array(new Uint8Array(rows).buffer);
}
