import type { ConsensusSpec } from "../../protocol/jobs/consensus.ts";
import type { FieldError } from "../../protocol/wire/problem.ts";
import { findAgentPool, toPooledAgents } from "../store/kernels/agent-pool-store.ts";
import { checkSharing, hasSharers } from "./subjects/rollouts.ts";
import { checkKernelKnown } from "./subjects/kernel-devices.ts";
import type { InputOf, JobKindModule, JobSurroundings, Prepared } from "./kind.ts";

export const consensus: JobKindModule<ConsensusSpec> = {
  prepare,
  target: () => ({ kernel: "consensus-tally" }),
  mayRun: ({ devices }, capabilities) => hasSharers(capabilities, devices),
  // A pool may have other states by the time the job runs.
  files: ({ pool }) => [pool?.digest],
  answers: ({ votes }, { ballots }) => ballots.length === (votes?.length ?? 1),
  store: null,
};

/** Fills in the pool whose agents vote, and checks that ballots are even and the electorate is among their voters. */
async function prepare(
  input: InputOf<ConsensusSpec>,
  { db, announced, candidates }: JobSurroundings,
): Promise<Prepared<ConsensusSpec>> {
  const { pool: name, ...fields } = input;
  const { votes, options, electorate = [], devices } = input;
  const errors: FieldError[] = checkKernelKnown("consensus-tally", announced);
  errors.push(...checkSharing({ devices }, candidates));
  if (name !== undefined && devices !== undefined) {
    errors.push({ pointer: "#/devices", message: "must not be given with a pool, which is on one device" });
  }
  const pool = name === undefined ? null : await findAgentPool(db, name);
  if (name !== undefined && pool === null) {
    errors.push({ pointer: "#/pool", message: "is not the name of an agent pool" });
  }
  if (pool !== null && options > pool.stateSize) {
    errors.push({ pointer: "#/options", message: `must be at most ${pool.stateSize}, the numbers of an agent` });
  }
  const voters = votes?.[0]?.length ?? pool?.agents ?? 0;
  const uneven = votes?.findIndex(({ length }) => length !== voters) ?? -1;
  if (uneven >= 0) errors.push({ pointer: `#/votes/${uneven}`, message: `must have ${voters} votes, as the first` });
  for (const [ballot, row] of votes?.entries() ?? []) {
    const wrong = row.findIndex((vote) => vote >= options);
    if (wrong < 0) continue;
    errors.push({ pointer: `#/votes/${ballot}/${wrong}`, message: `must be below ${options}, or -1` });
    break;
  }
  const stranger = electorate.findIndex((voter) => voter >= voters);
  if (stranger >= 0) errors.push({ pointer: `#/electorate/${stranger}`, message: `must be below ${voters}` });
  return { spec: { ...fields, ...(pool !== null && { pool: toPooledAgents(pool) }) }, errors };
}
