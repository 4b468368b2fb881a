import { z } from "zod";
import { Backend } from "../fleet/hardware.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { formatQuery } from "../wire/table-format.ts";
import { MemoryFit, PlacementState } from "./model.ts";

/** Limits that a batch must meet. */
export const sweepQuery = {
  memoryBytes: z.coerce.number().int().positive().optional().meta({
    description: "Memory that a loaded model may take with its largest batch; absent: the safe share of the machine's",
  }),
  latencyMs: z.coerce.number().min(LIMITS.minBudgetMs).max(LIMITS.maxBudgetMs).optional().meta({
    description: "The p99 of the service that a batch has to keep; absent: the knee is recommended",
  }),
};
export const SweepQuery = z.strictObject(sweepQuery);
export type SweepQuery = z.infer<typeof SweepQuery>;

/** One batch size of a calibration's sweep. */
export const SweptBatch = z
  .object({
    rows: z.number().int().min(1),
    p50Ms: z.number(),
    p99Ms: z.number(),
    rowsPerS: z.number().meta({ description: "Rows over the median service" }),
    memoryBytes: z.number().nullable().meta({ description: "By the memory model; null without one" }),
  })
  .meta({ id: "SweptBatch" });
export type SweptBatch = z.infer<typeof SweptBatch>;

/** Why a batch size is recommended, or none. */
export const RecommendedBatch = z
  .object({
    rows: z.number().int().min(1).nullable().meta({ description: "Null where no batch that was measured will do" }),
    because: z.enum(["latency", "knee", "memory", "largest", "nothing-fits"]),
    detail: z.string(),
  })
  .meta({ id: "RecommendedBatch" });
export type RecommendedBatch = z.infer<typeof RecommendedBatch>;

/** Analysis of a placement's sweep over batch sizes; docs/methodology.md defines each figure. */
export const PlacementSweep = z
  .object({
    placementId: idSchema("placement"),
    model: z.string(),
    version: z.number().int().min(1),
    variant: z.string(),
    backend: Backend,
    runnerId: idSchema("runner"),
    deviceKey: z.string(),
    software: z.boolean(),
    steps: z.array(SweptBatch).min(1).meta({ description: "By batch size, rising from 1" }),
    knee: z.number().int().nullable().meta({
      description: "Rows beyond which more of them gain little throughput; null where the curve has no knee",
    }),
    memory: MemoryFit.nullable(),
    safe: z
      .object({
        budgetBytes: z.number(),
        of: z.enum(["asked", "host", "device"]).meta({
          description: "Whose memory the budget is: as it was asked for, or the safe share of the machine's",
        }),
        share: z.number().nullable().meta({ description: "Of the machine's memory; null where it was asked for" }),
        rows: z
          .number()
          .int()
          .min(0)
          .meta({
            description: `The largest batch that stays within it, ${LIMITS.batchRows} at most; 0: not even one row`,
          }),
        measured: z.boolean().meta({ description: "False where so many rows were never measured" }),
      })
      .nullable()
      .meta({ description: "Null without a memory model, or where the machine's memory is not known" }),
    recommended: RecommendedBatch,
  })
  .meta({ id: "PlacementSweep" });
export type PlacementSweep = z.infer<typeof PlacementSweep>;

/** A query's version of a model. */
export const tradedVersion = z.coerce
  .number()
  .int()
  .min(1)
  .optional()
  .meta({ description: "Absent: the latest that is placed" });

export const TradeQuery = z.strictObject({
  version: tradedVersion,
  ...formatQuery,
});
export type TradeQuery = z.infer<typeof TradeQuery>;

/** Cost and gain of one variant on one device by one backend, as calibration measured them. */
export const TradedPlacement = z
  .object({
    placementId: idSchema("placement"),
    variant: z.string(),
    backend: Backend,
    runnerId: idSchema("runner"),
    deviceKey: z.string(),
    software: z.boolean(),
    state: PlacementState,
    fidelity: z.number().nullable(),
    sizeBytes: z.number().int().nullable().meta({ description: "Of the variant's file; null where it has none" }),
    p50Ms: z.number().meta({ description: "Service of one row" }),
    p99Ms: z.number(),
    bestRowsPerS: z.number().meta({ description: "The most rows a second over all batch sizes" }),
    bestRows: z.number().int().meta({ description: "The batch size that has it" }),
    memoryBytes: z.number().nullable().meta({ description: "With one row, by the memory model" }),
    latencyGain: z.number().nullable().meta({
      description:
        "p50 of the first variant on the same device by the same backend over its own: above 1 is faster; null without one",
    }),
    throughputGain: z.number().nullable().meta({ description: "The same of the best rows a second" }),
    front: z.boolean().meta({
      description: "No other eligible placement has more fidelity, less p50 and more rows a second at once",
    }),
  })
  .meta({ id: "TradedPlacement" });
export type TradedPlacement = z.infer<typeof TradedPlacement>;

/** Speed against fidelity of a model version. */
export const Trade = z
  .object({
    model: z.string(),
    version: z.number().int().min(1),
    items: z.array(TradedPlacement).meta({ description: "By device and backend, the variants in their order" }),
  })
  .meta({ id: "Trade" });
export type Trade = z.infer<typeof Trade>;
