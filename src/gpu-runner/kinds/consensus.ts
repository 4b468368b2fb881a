import type { ConsensusResult, ConsensusSpec } from "../../protocol/jobs/consensus.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import type { FleetDevice } from "../serving/device-fleet.ts";
import { shareWork } from "../serving/share-work.ts";
import { computeOn, type PoolWork, usePool, type UsedPool } from "./steps/use-pool.ts";
import type { Workload } from "./kind.ts";
import { describeCard, describeEnvironment } from "./steps/describe-run.ts";
import { findSharers, shareOut } from "./steps/share-rollout.ts";

/** Counts votes with the consensus kernels, on a device or on several that share the ballots. */
export const runConsensus: Workload<ConsensusSpec> = async (spec, context) => {
  const { fleet, otherJobs, signal, onProgress } = context;
  const { pool, options, timeoutMs, devices } = spec;
  const sharers = devices === undefined ? [fleet.withKernel("consensus-tally")] : findSharers(fleet, devices);
  const device = sharers[0]!;
  const environment = describeEnvironment(device.host.device, otherJobs);
  onProgress({ phase: "count", done: 0, total: 1 });
  const used = pool === undefined ? null : await usePool(pool, device, context, timeoutMs);
  const votes = used === null ? (spec.votes ?? []) : [await readVotes(used, pool!.stateSize, options)];
  const meter = (on: FleetDevice, times: { computeMs: number }, wanted: AbortSignal) => async (work: PoolWork) => {
    const { outputs, times: own } = await computeOn(on, work, { timeoutMs, signal: wanted });
    times.computeMs += own.computeMs;
    return outputs as Record<string, Int32Array<ArrayBuffer>>;
  };
  const count = async (on: FleetDevice, { from, ballots }: BallotShare, wanted: AbortSignal) => {
    const times = { computeMs: 0 };
    const counted = await countBallots(spec, votes.slice(from, from + ballots), meter(on, times, wanted));
    return { counted, ...times };
  };
  const { done, faults } = await shareBallots(votes.length, sharers, count, signal);
  const others = { computeMs: 0 };
  const conflicts = await findConflicts(spec, meter(device, others, signal));
  const result: ConsensusResult = {
    kind: "consensus",
    ballots: done.flatMap(({ result: { counted } }) => counted),
    conflicts,
    place: used?.place ?? null,
    computeMs: done.reduce((sum, { result: { computeMs } }) => sum + computeMs, others.computeMs),
    ...(devices !== undefined && { devices: done.map(describeShare) }),
    environment,
    ...(faults.length > 0 && { faults: faults.slice(0, LIMITS.faults) }),
  };
  return { result, deviceKey: device.host.device.key };
};

interface BallotShare {
  readonly from: number;
  readonly ballots: number;
}

interface CountedBallots {
  readonly counted: ConsensusResult["ballots"];
  readonly computeMs: number;
}

/** Counts ballots in even shares, in their order; a ballot is counted whole. */
async function shareBallots(
  ballots: number,
  sharers: readonly FleetDevice[],
  count: (device: FleetDevice, share: BallotShare, signal: AbortSignal) => Promise<CountedBallots>,
  signal: AbortSignal,
) {
  const split = (share: BallotShare, able: readonly FleetDevice[]) => {
    const counts = shareWork(
      share.ballots,
      able.map(() => null),
    );
    const firsts = counts.map((_, index) => counts.slice(0, index).reduce((sum, each) => sum + each, share.from));
    return able.flatMap((place, index) =>
      counts[index] === 0 ? [] : [{ place, share: { from: firsts[index]!, ballots: counts[index]! } }],
    );
  };
  const { rounds, faults } = await shareOut({ from: 0, ballots }, sharers, split, count, signal);
  return { done: rounds.flat().toSorted((a, b) => a.share.from - b.share.from), faults };
}

/** What a device counted of a shared job; one that took another's share as well stands there for each. */
function describeShare({
  device: { host },
  share: { ballots },
  result: { computeMs },
}: {
  readonly device: FleetDevice;
  readonly share: BallotShare;
  readonly result: CountedBallots;
}) {
  const { key, name } = host.device;
  return { deviceKey: key, deviceName: name, ...describeCard(host.device), ballots, computeMs };
}

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
