import { z } from "zod";
import { PooledAgents, PoolPlace } from "./agent-pool.ts";
import { Environment, sharerFields, sharingFields, targetFields } from "./job-fields.ts";
import { faultFields } from "../wire/fault.ts";
import { LIMITS } from "../wire/limits.ts";
import { Name } from "../wire/page.ts";

const index = z
  .number()
  .int()
  .min(0)
  .max(2 ** 31 - 1);

/** A proposal of one agent: two values in a round, or two ids of one proposer, are a conflict. */
const Proposal = z.strictObject({
  round: z
    .number()
    .int()
    .min(0)
    .max(LIMITS.consensusRounds - 1),
  proposer: z
    .number()
    .int()
    .min(0)
    .max(LIMITS.consensusRounds - 1),
  id: index,
  value: index,
});

const sharedFields = {
  kind: z.literal("consensus"),
  options: z.number().int().min(2).max(256),
  quorumPercent: z.number().int().min(0).max(100).default(50),
  votes: z
    .array(z.array(z.number().int().min(-1).max(255)).min(1).max(LIMITS.poolAgents))
    .min(1)
    .max(LIMITS.ballots)
    .optional()
    .meta({ description: "Ballots × voters: an option each, −1 who does not vote" }),
  electorate: z
    .array(index)
    .min(1)
    .max(LIMITS.poolAgents)
    .optional()
    .meta({ description: "Voters whose votes count, in every ballot; absent: all" }),
  proposals: z.array(Proposal).min(1).max(LIMITS.poolAgents).optional(),
  timeoutMs: z.number().int().min(1_000).max(600_000).default(120_000),
  ...targetFields,
  ...sharingFields,
};

/** Counts votes: those that are given, or one of each agent of a pool, for the largest of its first numbers. */
export const ConsensusInput = z
  .strictObject({ ...sharedFields, pool: Name.optional() })
  .refine(({ votes, pool }) => (votes === undefined) !== (pool === undefined), {
    path: ["votes"],
    message: "must be given, or pool, and not both",
  });
export const ConsensusSpec = z.object({ ...sharedFields, pool: PooledAgents.optional() }).meta({ id: "ConsensusSpec" });
export type ConsensusSpec = z.infer<typeof ConsensusSpec>;

export const ConsensusResult = z
  .object({
    kind: z.literal("consensus"),
    ballots: z.array(
      z.object({
        tally: z.array(z.number().int()),
        quorum: z.boolean(),
        leader: z.number().int().nullable().meta({
          description: "The option with most votes, of equals the first; null where nobody voted",
        }),
      }),
    ),
    conflicts: z
      .object({ rounds: z.array(z.number().int()), proposers: z.array(z.number().int()) })
      .nullable()
      .meta({
        description: "Rounds with different values, and proposers with different ids; null without proposals",
      }),
    place: PoolPlace.nullable().meta({ description: "Of the pool; null where votes were given" }),
    computeMs: z.number(),
    devices: z
      .array(z.object({ ...sharerFields, ballots: z.number().int(), computeMs: z.number() }))
      .max(LIMITS.devices)
      .optional()
      .meta({ description: "Those that shared the ballots, all at once; absent: one device counted them" }),
    environment: Environment,
    ...faultFields,
  })
  .meta({ id: "ConsensusResult" });
export type ConsensusResult = z.infer<typeof ConsensusResult>;
