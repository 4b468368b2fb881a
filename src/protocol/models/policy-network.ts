import { z } from "zod";
import { Estimate } from "../wire/distribution.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, Name } from "../wire/page.ts";

/** Activation function of a dense layer, in its standard definition. */
export const Activation = z.enum(["none", "relu", "tanh", "sigmoid"]).meta({ id: "Activation" });
export type Activation = z.infer<typeof Activation>;

const width = z.number().int().min(1).max(LIMITS.policyWidth);

/**
 * Dense layers. Inputs and outputs follow from the environment: what it shows, and one output for each discrete action
 * or component of a continuous one. An output activation that is bounded spans the bounds of a continuous action;
 * without one the outputs are the action.
 */
const MlpNetwork = z.strictObject({
  kind: z.literal("mlp"),
  hidden: z.array(width).max(LIMITS.policyLayers).default([32]),
  activation: Activation.default("tanh"),
  outputActivation: Activation.default("none"),
});

/** No network: a member's parameters are its outputs, whatever it sees. For searches of solutions, such as `sphere`. */
const DirectNetwork = z.strictObject({ kind: z.literal("direct") });

/**
 * Nodes with connections of their own in every member, none of them recurrent. The activation of nodes and outputs is
 * 1/(1 + e^(−4.9x)), which spans the bounds of a continuous action.
 */
const GraphNetwork = z.strictObject({
  kind: z.literal("graph"),
  hiddenNodes: z.number().int().min(0).max(LIMITS.graphNodes).default(32).meta({
    description: "The most that a member may have beside inputs, bias and outputs",
  }),
  connections: z.number().int().min(1).max(LIMITS.graphConnections).default(128).meta({
    description: "The most that a member may have",
  }),
});
export type GraphNetwork = z.infer<typeof GraphNetwork>;

/**
 * Two convolutions over four frames of 84×84, 8×8 with stride 4 and 4×4 with stride 2, a dense layer and the outputs (the
 * form of Mnih et al., "Playing Atari with deep reinforcement learning", 2013). For environments that show frames.
 */
const ConvNetwork = z.strictObject({
  kind: z.literal("conv"),
  firstChannels: z.number().int().min(1).max(LIMITS.convFirstChannels).default(8),
  secondChannels: z.number().int().min(1).max(LIMITS.convSecondChannels).default(16),
  hidden: width.default(64),
  activation: Activation.default("relu"),
});
export type ConvNetwork = z.infer<typeof ConvNetwork>;

/** The form that all members of a population have. */
export const PolicyNetwork = z
  .discriminatedUnion("kind", [MlpNetwork, ConvNetwork, DirectNetwork, GraphNetwork])
  .meta({ id: "PolicyNetwork" });
export type PolicyNetwork = z.infer<typeof PolicyNetwork>;

/** Networks that consist of layers. */
export type LayeredNetwork = Exclude<PolicyNetwork, GraphNetwork>;

/** Origin of a policy, and its results in its environment. */
export const PolicyCard = z
  .object({
    environment: Name,
    network: PolicyNetwork,
    training: z
      .object({
        jobId: idSchema("job"),
        algorithm: z.string(),
        generations: z.number().int(),
        steps: z.number().int(),
        seed: z.number().int(),
      })
      .nullable(),
    scores: z
      .array(
        z.object({
          runId: idSchema("run").nullable(),
          environment: Name,
          episodes: z.number().int(),
          seed: z.number().int(),
          mean: Estimate,
          at: Instant,
        }),
      )
      .max(LIMITS.policyScores)
      .meta({ description: "The latest evaluations, the newest first" }),
  })
  .meta({ id: "PolicyCard" });
export type PolicyCard = z.infer<typeof PolicyCard>;
