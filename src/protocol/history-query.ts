import { z } from "@hono/zod-openapi";
import { Clock } from "./distribution.ts";
import { HistoryPoint, isForward, NOT_FORWARD, PercentileList, Step } from "./history.ts";
import { idSchema } from "./id.ts";
import { LIMITS } from "./limits.ts";
import { Instant } from "./page.ts";
import { seriesSelection } from "./series.ts";

const DIMENSIONS = [
  "series",
  "device",
  "subject",
  "metric",
  "variant",
  "backend",
  "batch",
  "label",
  "clock",
  "software",
] as const;
const IN_CONFIGURATION = /^configuration\.[A-Za-z][\w.-]{0,63}$/;

/** What series are put together by: a dimension that every series has, or `configuration.` and a name. */
export type Dimension = (typeof DIMENSIONS)[number] | `configuration.${string}`;

function isDimension(text: string): text is Dimension {
  return DIMENSIONS.some((name) => name === text) || IN_CONFIGURATION.test(text);
}

export const GroupBy = z
  .string()
  .transform((text) => [...new Set(text.split(","))])
  .refine(
    (names): names is Dimension[] => names.length <= LIMITS.groupDimensions && names.every(isDimension),
    `must be at most ${LIMITS.groupDimensions} of ${DIMENSIONS.join(", ")} or configuration.<name>, with commas between`,
  )
  .openapi({ type: "string", description: `Any of ${DIMENSIONS.join(", ")} and configuration.<name>` });

/** What every question to several series has: which ones, and from when to when. */
export const windowQuery = {
  ...seriesSelection,
  from: Instant.optional().openapi({ description: "Absent: 30 days before `to`" }),
  to: Instant.optional().openapi({ description: "Absent: the end of today, UTC" }),
};

export const HistoryQuery = z
  .object({
    ...windowQuery,
    step: Step.optional().openapi({ description: "Absent: one point a group, over the whole span" }),
    percentiles: PercentileList.default([50, 95, 99]),
    groupBy: GroupBy.default(["series"]),
    limit: z.coerce.number().int().min(1).max(LIMITS.queriedSeries).default(LIMITS.queriedSeries),
  })
  .refine(isForward, NOT_FORWARD);
export type HistoryQuery = z.infer<typeof HistoryQuery>;

/** The device that a group is of. */
export const GroupDevice = z.object({ id: idSchema("fingerprint"), name: z.string() }).openapi("GroupDevice");
export type GroupDevice = z.infer<typeof GroupDevice>;

/** What is the same of all series that were put together: of any two quantities no percentile makes sense. */
export const Quantity = z.object({
  metric: z.string(),
  unit: z.string(),
  clock: Clock.nullable(),
  direction: z.enum(["lower", "higher"]),
  software: z.boolean(),
});
export type Quantity = z.infer<typeof Quantity>;

/** Series that have the same values of what was grouped by, and the same quantity. */
export const SeriesGroup = Quantity.extend({
  group: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .openapi({ description: "By dimension, the value that all have; null where they have none" }),
  device: GroupDevice.nullable().openapi({ description: "Null where they are of none or of several" }),
  series: z.array(idSchema("series")),
}).openapi("SeriesGroup");
export type SeriesGroup = z.infer<typeof SeriesGroup>;

/** The span that was read: `from` and `to` of the question, widened to whole steps or to what is kept of that time. */
export const readWindow = {
  from: Instant,
  to: Instant,
  resolution: z
    .enum(["1m", "1h", "1d", "measured"])
    .openapi({ description: "The widest rollups that were read; `measured`: the points themselves" }),
};

export const HistoryQueryReply = z
  .object({
    groups: z.array(SeriesGroup.extend({ points: z.array(HistoryPoint) })),
    ...readWindow,
    step: Step.nullable(),
    truncated: z.boolean().openapi({ description: "Whether there are more groups than `limit`" }),
  })
  .openapi("HistoryQueryReply");
export type HistoryQueryReply = z.infer<typeof HistoryQueryReply>;
