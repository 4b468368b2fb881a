import { z } from "zod";
import { Distribution } from "../wire/distribution.ts";
import { LIMITS } from "../wire/limits.ts";

/** The load scenarios of MLPerf Inference (mlcommons/inference_policies, inference_rules.adoc). */
export const ScenarioKind = z.enum(["singleStream", "multiStream", "server", "offline"]).meta({ id: "ScenarioKind" });
export type ScenarioKind = z.infer<typeof ScenarioKind>;

/** `edge`: the whole way that a request takes, by HTTP through the edge; `runner`: the runner's queue and device alone. */
export const LoadPath = z.enum(["runner", "edge"]).meta({ id: "LoadPath" });
export type LoadPath = z.infer<typeof LoadPath>;

const Percentile = z.number().gt(0).lt(1);
const length = {
  minDurationMs: z.number().int().min(100).max(LIMITS.scenarioMs).default(2_000),
  minQueries: z.number().int().min(1).max(LIMITS.scenarioQueries).optional().meta({
    description: "Absent: as few as MLPerf's early stopping needs for the percentile",
  }),
};

const singleStream = { kind: z.literal("singleStream"), percentile: Percentile.default(0.9), ...length };
const multiStream = {
  kind: z.literal("multiStream"),
  percentile: Percentile.default(0.99),
  samplesPerQuery: z.number().int().min(1).max(LIMITS.batchRows).default(8),
  ...length,
};
const server = {
  kind: z.literal("server"),
  percentile: Percentile.default(0.99),
  boundMs: z.number().min(LIMITS.minBudgetMs).max(LIMITS.maxBudgetMs).meta({
    description: "The percentile of the latency, from the scheduled arrival on, has to stay within this",
  }),
  ratePerS: z.number().positive().max(1_000_000).optional().meta({
    description: "Scheduled arrivals a second; absent: the highest rate that keeps the bound is searched",
  }),
  confirmations: z.number().int().min(1).max(10).default(2).meta({
    description: "Further runs in which the highest rate has to hold",
  }),
  ...length,
};
const offline = {
  kind: z.literal("offline"),
  samples: z.number().int().min(1).max(LIMITS.scenarioQueries).optional().meta({
    description: "Samples of the one query; absent: as many as the duration is expected to take",
  }),
  minDurationMs: length.minDurationMs,
};

/** One load to validate under. */
export const Scenario = z
  .discriminatedUnion("kind", [z.object(singleStream), z.object(multiStream), z.object(server), z.object(offline)])
  .meta({ id: "Scenario" });
export type Scenario = z.infer<typeof Scenario>;
/** The same as it is asked for: a field that is not known is a mistake. */
export const ScenarioInput = z
  .discriminatedUnion("kind", [
    z.strictObject(singleStream),
    z.strictObject(multiStream),
    z.strictObject(server),
    z.strictObject(offline),
  ])
  .meta({ id: "ScenarioInput" });

/** Milliseconds that a scenario takes at least: a rate that is searched for is tried, and then confirmed. */
export function leastMsOf(scenario: Scenario): number {
  const isSearched = scenario.kind === "server" && scenario.ratePerS === undefined;
  return scenario.minDurationMs * (isSearched ? 1 + scenario.confirmations : 1);
}

/** A percentile of a finite sample: `sorted[⌊n·p⌋]`, with the interval that the sample size gives it. */
export const MeasuredPercentile = z
  .object({
    percentile: Percentile,
    ms: z.number(),
    lowMs: z.number().nullable().meta({ description: "Null where the sample is too small for a lower bound" }),
    highMs: z.number().nullable(),
    confidence: z.number().meta({ description: "Of the interval between two order statistics" }),
  })
  .meta({ id: "MeasuredPercentile" });
export type MeasuredPercentile = z.infer<typeof MeasuredPercentile>;

/** MLPerf's early stopping at a confidence of 0.99 and no tolerance; a query that failed counts as over latency. */
export const EarlyStopping = z
  .object({
    percentile: Percentile,
    queries: z.number().int(),
    overLatency: z.number().int().meta({
      description: "Of a server: queries that were over the bound. Else: so many may be over the estimate, of so many",
    }),
    minQueries: z.number().int().meta({
      description: "So many queries would be enough: of a server with as many over, else for any estimate",
    }),
    enough: z.boolean(),
    estimateMs: z.number().nullable().meta({
      description: "Of single and multi stream: the percentile as MLPerf would report it; null with too few queries",
    }),
  })
  .meta({ id: "EarlyStopping" });
export type EarlyStopping = z.infer<typeof EarlyStopping>;

/** One rate of a server scenario that was tried. */
export const RateTrial = z
  .object({
    ratePerS: z.number(),
    completedPerS: z.number(),
    queries: z.number().int(),
    errors: z.number().int(),
    overLatency: z.number().int(),
    p50Ms: z.number().nullable(),
    percentileMs: z
      .number()
      .nullable()
      .meta({ description: "At the percentile of the scenario; null where it is of queries that failed" }),
    holds: z.boolean(),
    confirms: z.boolean().meta({ description: "Whether it repeats a rate that held before" }),
  })
  .meta({ id: "RateTrial" });
export type RateTrial = z.infer<typeof RateTrial>;

/** Result of one scenario on one path. Latencies run from the scheduled arrival of a query to its last byte. */
export const ScenarioResult = z
  .object({
    scenario: Scenario,
    path: LoadPath,
    queries: z.number().int(),
    samples: z.number().int(),
    durationMs: z.number(),
    short: z.boolean().meta({ description: "Shorter than MLPerf's full length: never an MLPerf-valid result" }),
    errors: z.number().int(),
    errorCodes: z.record(z.string().max(64), z.number().int()).meta({ description: "How many of each" }),
    latencyMs: Distribution.nullable().meta({ description: "Null where no query was answered" }),
    percentiles: z.array(MeasuredPercentile).max(LIMITS.scenarioPercentiles),
    earlyStopping: EarlyStopping.nullable(),
    samplesPerS: z.number(),
    server: z
      .object({
        highestRatePerS: z.number().nullable().meta({
          description: "Null where no rate that was tried holds as often as it was to be confirmed",
        }),
        boundMs: z.number(),
        searched: z.boolean(),
        curve: z.array(RateTrial).max(LIMITS.rateTrials).meta({ description: "Every rate that was tried, in order" }),
        front: z
          .array(z.object({ ratePerS: z.number(), percentileMs: z.number() }))
          .max(LIMITS.rateTrials)
          .meta({ description: "Those of them that no other beats in both rate and latency, by rate" }),
      })
      .nullable(),
  })
  .meta({ id: "ScenarioResult" });
export type ScenarioResult = z.infer<typeof ScenarioResult>;
