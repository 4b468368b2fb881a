import { z } from "zod";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant } from "../wire/page.ts";
import { Series } from "./series.ts";
import { formatQuery } from "../wire/table-format.ts";

/** A step such as `1m`, `6h`, `1d`. */
export const Step = z.string().regex(/^[1-9][0-9]{0,4}(s|m|h|d)$/, "must be a number and s, m, h or d, such as 5m");

export const PercentileList = z
  .string()
  .regex(/^[0-9.]+(,[0-9.]+){0,15}$/, "must be percentiles such as 50,95,99")
  .transform((text) => text.split(",").map(Number))
  .refine((values) => values.every((value) => value > 0 && value < 100), "each percentile must lie between 0 and 100");

/** Whether `to` lies after `from`, where both are given; otherwise the error is `NOT_FORWARD`. */
export function isForward({ from, to }: { from?: string | undefined; to?: string | undefined }): boolean {
  return from === undefined || to === undefined || Date.parse(from) < Date.parse(to);
}
export const NOT_FORWARD = { path: ["to"], message: "must lie after from" };

export const PointsQuery = z
  .strictObject({
    series: idSchema("series"),
    from: Instant.optional().meta({ description: "The first instant; absent: from the beginning" }),
    to: Instant.optional().meta({ description: "The first instant that is left out; absent: to the end" }),
    step: Step.optional().meta({
      description:
        "Points in the same step are merged, and from and to are widened to whole steps; absent: as measured, as long as that is kept",
    }),
    percentiles: PercentileList.prefault("50,95,99").meta({ description: "With commas between" }),
    sketches: z.stringbool().default(false).meta({ type: "boolean", description: "Give each point's sketch too" }),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(LIMITS.historyPoints)
      .default(1_000)
      .meta({ description: "How many points there are at most" }),
    cursor: z.string().max(512).optional().meta({ description: "Without a step: the page before, in time" }),
    ...formatQuery,
  })
  .refine(isForward, NOT_FORWARD)
  .refine(({ step, cursor }) => step === undefined || cursor === undefined, {
    path: ["cursor"],
    message: "must not stand beside a step",
  });
export type PointsQuery = z.infer<typeof PointsQuery>;

export const HistoryPoint = z
  .object({
    at: Instant,
    count: z.number().int(),
    min: z.number(),
    max: z.number(),
    mean: z.number(),
    percentiles: z.record(z.string(), z.number()).meta({ description: "By percentile, as in `p50`, `p99.9`" }),
    sketch: z.string().optional().meta({ description: "Where `sketches` asked for it: see methodology" }),
    runId: idSchema("run").nullable(),
  })
  .meta({ id: "HistoryPoint" });
export type HistoryPoint = z.infer<typeof HistoryPoint>;

export const PointsReply = z
  .object({
    series: Series,
    points: z.array(HistoryPoint).meta({ description: "Oldest first; of more than `limit`, the newest" }),
    truncated: z.boolean(),
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: "Of the points before these; null where there are none, and with a step" }),
  })
  .meta({ id: "PointsReply" });
export type PointsReply = z.infer<typeof PointsReply>;
