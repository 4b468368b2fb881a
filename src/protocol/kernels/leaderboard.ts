import { z } from "zod";
import { Clock } from "../wire/distribution.ts";
import { Fingerprint } from "../fleet/hardware.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant } from "../wire/page.ts";
import { DType } from "../wire/tensor.ts";

/** A shape as text, the same for the same sizes: `k=512,m=512,n=512`. */
export function toShapeText(shape: Readonly<Record<string, number>>): string {
  return Object.entries(shape)
    .map(([name, size]) => `${name}=${size}`)
    .toSorted()
    .join();
}

/** The shape that a text of `toShapeText` stands for. */
export function fromShapeText(text: string): Record<string, number> {
  return Object.fromEntries(Array.from(text.matchAll(/(\w+)=(\d+)/g), ([, name = "", size]) => [name, Number(size)]));
}

const ShapeText = z
  .string()
  .max(1_024)
  .regex(/^[A-Za-z]\w*=[1-9]\d*(,[A-Za-z]\w*=[1-9]\d*)*$/, "must be every size, such as m=512,n=512,k=512")
  .transform((text) => text.split(",").toSorted().join());

export const LeaderboardQuery = z.strictObject({
  shape: ShapeText.optional().meta({ description: "Every size by name: `m=512,n=512,k=512`" }),
  device: idSchema("fingerprint").optional().meta({ description: "Id of a fingerprint, as a leaderboard gives it" }),
  clock: Clock.optional().meta({ description: "What durations were read from" }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMITS.leaderboardEntries)
    .default(200)
    .meta({ description: "How many entries there are at most" }),
});
export type LeaderboardQuery = z.infer<typeof LeaderboardQuery>;

/** The best run of one kernel. */
const LeaderboardEntry = z.object({
  rank: z.number().int(),
  kernel: z.string().meta({ description: "Name of an announced kernel or id of a submitted one" }),
  name: z.string(),
  variant: z.string(),
  medianMs: z.number(),
  interval: z
    .object({ lowMs: z.number(), highMs: z.number() })
    .meta({ description: "95 % confidence interval of the median within the run, by order statistics" }),
  iterations: z.number().int(),
  shareOfRoof: z.number().nullable().meta({
    description: "Of what the device can do at most; null where its run did not tell, or told by another clock",
  }),
  runId: idSchema("run"),
  at: Instant,
});
export type LeaderboardEntry = z.infer<typeof LeaderboardEntry>;

/** Kernels that did the same work at one shape on one device by one clock, fastest first. */
const Board = z
  .object({
    shape: z.record(z.string(), z.number().int()),
    dtype: DType,
    clock: Clock,
    device: z.object({
      id: idSchema("fingerprint"),
      name: z.string(),
      software: z.boolean(),
      fingerprint: Fingerprint,
    }),
    entries: z.array(LeaderboardEntry),
  })
  .meta({ id: "LeaderboardBoard" });
export type Board = z.infer<typeof Board>;

export const Leaderboard = z
  .object({ kernel: z.string(), boards: z.array(Board), truncated: z.boolean() })
  .meta({ id: "Leaderboard" });
export type Leaderboard = z.infer<typeof Leaderboard>;
