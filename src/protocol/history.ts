import { z } from "@hono/zod-openapi";
import { Clock } from "./distribution.ts";
import { Fingerprint } from "./hardware.ts";
import { idSchema } from "./id.ts";
import { LIMITS } from "./limits.ts";
import { Instant, PageQuery, pageOf } from "./page.ts";

/** What a series speaks about. */
export const SubjectKind = z.enum(["kernel", "model"]).openapi("SubjectKind");

/**
 * What makes a series: change any of these and another series begins. The series' id is the digest
 * of this key.
 */
export const SeriesKey = z
  .object({
    subjectKind: SubjectKind,
    subject: z.string().max(256).openapi({ description: "`gemm` or `lenet5@1`" }),
    metric: z.string().max(64).openapi({ description: "`gpuMs`, `wallMs`, `gflops`, `totalMs` …" }),
    unit: z.string().max(16),
    clock: Clock.nullable().openapi({
      description: "What durations and rates were read from; null for what has no clock",
    }),
    direction: z.enum(["lower", "higher"]).openapi({ description: "Which way is better" }),
    configuration: z.record(z.string(), z.union([z.string(), z.number()])),
    fingerprint: Fingerprint.nullable(),
    software: z.boolean(),
    label: z.string().max(LIMITS.nameLength).nullable(),
  })
  .openapi("SeriesKey");
export type SeriesKey = z.infer<typeof SeriesKey>;

export const Series = SeriesKey.extend({
  id: idSchema("series"),
  createdAt: Instant,
  lastPointAt: Instant.nullable(),
  points: z.number().int(),
}).openapi("Series");
export type Series = z.infer<typeof Series>;
export const SeriesPage = pageOf(Series, "Series");

export const SeriesQuery = PageQuery.extend({
  subject: z.string().max(256).optional(),
  subjectKind: SubjectKind.optional(),
  metric: z.string().max(64).optional(),
});
export type SeriesQuery = z.infer<typeof SeriesQuery>;

/** A step such as `1m`, `6h`, `1d`. */
export const Step = z.string().regex(/^[1-9][0-9]{0,4}(s|m|h|d)$/, "must be a number and s, m, h or d, such as 5m");

const PercentileList = z
  .string()
  .regex(/^[0-9.]+(,[0-9.]+){0,15}$/, "must be percentiles such as 50,95,99")
  .transform((text) => text.split(",").map(Number))
  .refine((values) => values.every((value) => value > 0 && value < 100), "each percentile must lie between 0 and 100");

export const PointsQuery = z
  .object({
    series: idSchema("series"),
    from: Instant.optional(),
    to: Instant.optional(),
    step: Step.optional().openapi({ description: "Points in the same step are merged; absent: as stored" }),
    percentiles: PercentileList.default([50, 95, 99]),
    limit: z.coerce.number().int().min(1).max(LIMITS.historyPoints).default(1_000),
  })
  .refine(
    (query) => query.from === undefined || query.to === undefined || Date.parse(query.from) < Date.parse(query.to),
    {
      path: ["to"],
      message: "must lie after from",
    },
  );
export type PointsQuery = z.infer<typeof PointsQuery>;

export const HistoryPoint = z
  .object({
    at: Instant,
    count: z.number().int(),
    min: z.number(),
    max: z.number(),
    mean: z.number(),
    percentiles: z.record(z.string(), z.number()).openapi({ description: "By percentile, as in `p50`, `p99.9`" }),
    sketch: z.string(),
    runId: idSchema("run").nullable(),
  })
  .openapi("HistoryPoint");
export type HistoryPoint = z.infer<typeof HistoryPoint>;

export const PointsReply = z
  .object({ series: Series, points: z.array(HistoryPoint), truncated: z.boolean() })
  .openapi("PointsReply");
export type PointsReply = z.infer<typeof PointsReply>;
