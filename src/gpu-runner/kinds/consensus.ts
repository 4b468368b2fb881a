import type { ConsensusResult, ConsensusSpec } from "../../protocol/jobs/consensus.ts";
import { computeOn, type PoolWork, usePool, type UsedPool } from "./steps/use-pool.ts";
import type { Workload } from "./kind.ts";
import { describeEnvironment } from "./steps/describe-run.ts";

/** Counts votes on a device with the consensus kernels. */
export const runConsensus: Workload<ConsensusSpec> = async (spec, context) => {
  const { fleet, otherJobs, signal, onProgress } = context;
  const { pool, options, timeoutMs } = spec;
  const device = fleet.withKernel("consensus-tally");
  const environment = describeEnvironment(device.host.device, otherJobs);
  onProgress({ phase: "count", done: 0, total: 1 });
  const used = pool === undefined ? null : await usePool(pool, device, context, timeoutMs);
  const votes = used === null ? (spec.votes ?? []) : [await readVotes(used, pool!.stateSize, options)];
  let computeMs = 0;
  const compute = async (work: PoolWork) => {
    const { outputs, times } = await computeOn(device, work, { timeoutMs, signal });
    computeMs += times.computeMs;
    return outputs as Record<string, Int32Array<ArrayBuffer>>;
  };
  const ballots = await countBallots(spec, votes, compute);
  const conflicts = await findConflicts(spec, compute);
  const place = used?.place ?? null;
  const result: ConsensusResult = { kind: "consensus", ballots, conflicts, place, computeMs, environment };
  return { result, deviceKey: device.host.device.key };
};

type Compute = (work: PoolWork) => Promise<Record<string, Int32Array<ArrayBuffer>>>;

/** Votes of all agents: the index of the largest of an agent's first numbers, the first among equals. */
async function readVotes(used: UsedPool, stateSize: number, options: number): Promise<number[]> {
  const states = await used.read();
  return Array.from({ length: states.length / stateSize }, (_, agent) => {
    const own = states.subarray(agent * stateSize, agent * stateSize + options);
    return own.reduce((chosen, value, option) => (value > own[chosen]! ? option : chosen), 0);
  });
}

async function countBallots(
  { options, electorate, quorumPercent }: ConsensusSpec,
  votes: readonly (readonly number[])[],
  compute: Compute,
): Promise<ConsensusResult["ballots"]> {
  const ballots = votes.length;
  const voters = votes[0]?.length ?? 0;
  const mask = maskOf(electorate ?? Array.from({ length: voters }, (_, voter) => voter), voters);
  const masks = new Int32Array(ballots * mask.length);
  for (let ballot = 0; ballot < ballots; ballot++) masks.set(mask, ballot * mask.length);
  const { tally, quorum } = (await compute({
    kernel: "consensus-tally",
    shape: { ballots, voters, options },
    inputs: {
      votes: Int32Array.from(votes.flat()),
      electorate: masks,
      percent: new Int32Array(ballots).fill(quorumPercent),
    },
  })) as Record<"tally" | "quorum", Int32Array<ArrayBuffer>>;
  const shape = { elections: ballots, candidates: options };
  const { leader } = await compute({ kernel: "consensus-leader", shape, inputs: { scores: tally } });
  return votes.map((_, ballot) => {
    const counts = [...tally.subarray(ballot * options, (ballot + 1) * options)];
    const leads = counts.some((count) => count > 0) ? leader![ballot]! : null;
    return { tally: counts, quorum: quorum[ballot] === 1, leader: leads };
  });
}

/** Bit mask of the electorate, 32 voters a word. */
function maskOf(electorate: readonly number[], voters: number): Int32Array<ArrayBuffer> {
  const mask = new Int32Array(Math.ceil(voters / 32));
  for (const voter of electorate) mask[voter >>> 5]! |= 1 << (voter & 31);
  return mask;
}

async function findConflicts({ proposals }: ConsensusSpec, compute: Compute): Promise<ConsensusResult["conflicts"]> {
  if (proposals === undefined) return null;
  const most = (field: "round" | "proposer") => 1 + Math.max(...proposals.map((proposal) => proposal[field]));
  const { roundConflict, proposerConflict } = await compute({
    kernel: "consensus-conflicts",
    shape: { sessions: 1, proposals: proposals.length, rounds: most("round"), proposers: most("proposer") },
    inputs: {
      proposals: Int32Array.from(proposals.flatMap(({ round, value, proposer, id }) => [round, value, proposer, id])),
    },
  });
  const found = (flags: Int32Array | undefined) =>
    [...(flags ?? [])].flatMap((flag, index) => (flag === 1 ? [index] : []));
  return { rounds: found(roundConflict), proposers: found(proposerConflict) };
}
