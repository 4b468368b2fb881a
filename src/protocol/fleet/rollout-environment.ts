import { z } from "zod";
import { LIMITS } from "../wire/limits.ts";
import { Name } from "../wire/page.ts";

/** Four frames of 84×84 pixels. */
export const FRAME_PIXELS = 4 * 84 * 84;

/** Action space of an environment: a number of discrete actions, or numbers within bounds. */
function actionOf(object: typeof z.object) {
  return z.discriminatedUnion("kind", [
    object({ kind: z.literal("discrete"), count: z.number().int().min(2).max(LIMITS.policyWidth) }),
    object({
      kind: z.literal("continuous"),
      size: z.number().int().min(1).max(LIMITS.policyWidth),
      low: z.number(),
      high: z.number(),
    }),
  ]);
}

/** `object` is `z.strictObject` for what callers send, at every depth. */
export function environmentFields(object: typeof z.object) {
  return {
    name: Name,
    description: z.string().max(512),
    observationSize: z.number().int().min(1).max(FRAME_PIXELS),
    frames: z.boolean().optional().meta({
      description: "It shows four frames of 84×84 greys in [0, 1], the oldest first: for networks of kind conv alone",
    }),
    action: actionOf(object),
    stepLimit: z.number().int().min(1).max(LIMITS.episodeSteps).meta({
      description: "Steps after which an episode is truncated",
    }),
    measures: z.number().int().min(0).max(LIMITS.archiveMeasures).meta({
      description: "Numbers that describe the behaviour of an episode, each in [0, 1]",
    }),
    scores: object({ worst: z.number(), best: z.number(), solvedAt: z.number().nullable() }).meta({
      description: "Returns that normalise to 0 and 1, and the mean return that counts as solved",
    }),
    digest: z.string().max(128).optional().meta({ description: "Of its program: another is another environment" }),
  };
}

/** Backends that roll out populations. */
export const RolloutBackend = z.enum(["wgsl", "cpu-simd"]);
export type RolloutBackend = z.infer<typeof RolloutBackend>;

/** An environment that policies are evaluated in, as runners announce it. */
export const RolloutEnvironment = z
  .object({
    ...environmentFields(z.object),
    backends: z.array(RolloutBackend).optional().meta({
      description: "What has a program of it for policies of layers; absent from an older runner",
    }),
  })
  .meta({ id: "RolloutEnvironment" });
export type RolloutEnvironment = z.infer<typeof RolloutEnvironment>;
