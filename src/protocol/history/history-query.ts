import { z } from "zod";
import { Clock } from "../wire/distribution.ts";
import { HistoryPoint, isForward, NOT_FORWARD, PercentileList, Step } from "./history.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant } from "../wire/page.ts";
import { seriesSelection } from "./series.ts";
import { formatQuery } from "../wire/table-format.ts";

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

/** Dimension to group series by: one that every series has, or `configuration.` and a name. */
export type Dimension = (typeof DIMENSIONS)[number] | `configuration.${string}`;

function isDimension(text: string): text is Dimension {
  return DIMENSIONS.some((name) => name === text) || IN_CONFIGURATION.test(text);
}

const GroupBy = z
  .string()
  .transform((text) => [...new Set(text.split(","))])
  .refine(
    (names): names is Dimension[] => names.length <= LIMITS.groupDimensions && names.every(isDimension),
    `must be at most ${LIMITS.groupDimensions} of ${DIMENSIONS.join(", ")} or configuration.<name>, with commas between`,
  )
  .meta({ type: "string", description: `Any of ${DIMENSIONS.join(", ")} and configuration.<name>` });

/** Query parameters of every question to several series: selection and time window. */
const windowQuery = {
  ...seriesSelection,
  from: Instant.optional().meta({ description: "Absent: 30 days before `to`" }),
  to: Instant.optional().meta({ description: "Absent: the end of today, UTC" }),
};

const GroupLimit = z.coerce
  .number()
  .int()
  .min(1)
  .max(LIMITS.queriedSeries)
  .default(LIMITS.queriedSeries)
  .meta({ description: "How many groups there are at most" });

export const HistoryQuery = z
  .strictObject({
    ...windowQuery,
    step: Step.optional().meta({ description: "Absent: one point a group, over the whole span" }),
    percentiles: PercentileList.prefault("50,95,99").meta({ description: "With commas between" }),
    groupBy: GroupBy.default(["series"]),
    limit: GroupLimit,
    ...formatQuery,
  })
  .refine(isForward, NOT_FORWARD);
export type HistoryQuery = z.infer<typeof HistoryQuery>;

/** The device that a group is of. */
const GroupDevice = z.object({ id: idSchema("fingerprint"), name: z.string() }).meta({ id: "GroupDevice" });
export type GroupDevice = z.infer<typeof GroupDevice>;

/** Metric, unit and clock shared by the grouped series: percentiles of mixed quantities have no meaning. */
const Quantity = z.object({
  metric: z.string(),
  unit: z.string(),
  clock: Clock.nullable(),
  direction: z.enum(["lower", "higher"]),
  software: z.boolean(),
});
export type Quantity = z.infer<typeof Quantity>;

/** Series that have the same values of what was grouped by, and the same quantity. */
const SeriesGroup = Quantity.extend({
  group: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .meta({ description: "By dimension, the value that all have; null where they have none" }),
  device: GroupDevice.nullable().meta({ description: "Null where they are of none or of several" }),
  series: z.array(idSchema("series")),
});
export type SeriesGroup = z.infer<typeof SeriesGroup>;

/** The span that was read: `from` and `to` of the question, widened to whole steps or to what is kept of that time. */
const readWindow = {
  from: Instant,
  to: Instant,
  resolution: z
    .enum(["1m", "1h", "1d", "28d", "measured"])
    .meta({ description: "The widest rollups that were read; `measured`: the points themselves" }),
};

export const HistoryQueryReply = z
  .object({
    groups: z.array(SeriesGroup.extend({ points: z.array(HistoryPoint) })),
    ...readWindow,
    step: Step.nullable(),
    truncated: z.boolean().meta({ description: "Whether there are more groups than `limit`" }),
  })
  .meta({ id: "HistoryQueryReply" });
export type HistoryQueryReply = z.infer<typeof HistoryQueryReply>;

export const HeatmapQuery = z
  .strictObject({
    ...windowQuery,
    step: Step.optional().meta({ description: "Absent: the shortest usual one that gives 120 columns at most" }),
    rows: z.coerce
      .number()
      .int()
      .min(2)
      .max(LIMITS.heatmapRows)
      .default(48)
      .meta({ description: "How many rows of values there are" }),
  })
  .refine(isForward, NOT_FORWARD);
export type HeatmapQuery = z.infer<typeof HeatmapQuery>;

export const Heatmap = z
  .object({
    quantity: Quantity.nullable().meta({ description: "Null where no series is meant" }),
    series: z.array(idSchema("series")),
    step: Step,
    times: z.array(Instant).meta({ description: "Steps that have anything, rising" }),
    edges: z.array(z.number()).meta({
      description:
        "Bounds of the rows, rising: row i holds what is above edges[i], up to edges[i + 1]. They grow by a factor; where there are zeros or negative values, the first row has them all",
    }),
    counts: z.array(z.array(z.number())).meta({ description: "By time, then by row" }),
    ...readWindow,
  })
  .meta({ id: "Heatmap" });
export type Heatmap = z.infer<typeof Heatmap>;

/** A median with its 95 % confidence interval; null below six samples. */
const MedianInterval = z.object({ low: z.number(), high: z.number() }).nullable();

export const ScalingQuery = z
  .strictObject({
    ...windowQuery,
    over: z
      .string()
      .regex(/^[A-Za-z][\w.-]{0,63}$/, "must be the name of a configuration, such as batch")
      .default("batch")
      .meta({ description: "A configuration whose values are numbers" }),
    percentiles: PercentileList.prefault("50,95,99").meta({ description: "With commas between" }),
    groupBy: GroupBy.default(["device", "variant", "backend"]),
    limit: GroupLimit,
    ...formatQuery,
  })
  .refine(isForward, NOT_FORWARD);
export type ScalingQuery = z.infer<typeof ScalingQuery>;

const ScalingPoint = HistoryPoint.omit({ at: true, sketch: true, runId: true }).extend({
  value: z.number(),
  interval: MedianInterval,
});

export const Scaling = z
  .object({
    over: z.string(),
    groups: z.array(SeriesGroup.extend({ points: z.array(ScalingPoint) })),
    ...readWindow,
    truncated: z.boolean(),
  })
  .meta({ id: "Scaling" });
export type Scaling = z.infer<typeof Scaling>;

export const HistoryLeaderboardQuery = z
  .strictObject({
    ...windowQuery,
    subject: z.string().min(1).max(256).meta({ description: "A kernel, or a model as `lenet5@1`" }),
    groupBy: GroupBy.default(["device"]),
    limit: GroupLimit,
    ...formatQuery,
  })
  .refine(isForward, NOT_FORWARD);
export type HistoryLeaderboardQuery = z.infer<typeof HistoryLeaderboardQuery>;

const RankedGroup = SeriesGroup.pick({ group: true, device: true, series: true }).extend({
  rank: z.number().int().meta({ description: "From 1; equal medians share one" }),
  median: z.number(),
  interval: MedianInterval,
  timesWorse: z.number().nullable().meta({
    description: "How many times worse than the best median; null where one of them is not above zero",
  }),
  count: z.number().int().meta({ description: "Samples in the span" }),
  points: z.number().int().meta({ description: "Points that its series ever got; of a kernel, as many runs" }),
  lastPointAt: Instant.nullable(),
});

export const HistoryLeaderboard = z
  .object({
    boards: z.array(
      Quantity.extend({
        work: z
          .record(z.string(), z.union([z.string(), z.number()]))
          .meta({ description: "Shape, type, batch: what all on the board did" }),
        entries: z.array(RankedGroup),
      }),
    ),
    ...readWindow,
    truncated: z.boolean(),
  })
  .meta({ id: "HistoryLeaderboard" });
export type HistoryLeaderboard = z.infer<typeof HistoryLeaderboard>;
