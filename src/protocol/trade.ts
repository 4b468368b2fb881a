import { z } from "@hono/zod-openapi";
import { Backend } from "./hardware.ts";
import { idSchema } from "./id.ts";
import { PlacementState } from "./model.ts";
import { formatQuery } from "./table-format.ts";

/** A query's version of a model. */
export const tradedVersion = z.coerce
  .number()
  .int()
  .min(1)
  .optional()
  .openapi({ description: "Absent: the latest that is placed" });

export const TradeQuery = z.object({
  version: tradedVersion,
  ...formatQuery,
});
export type TradeQuery = z.infer<typeof TradeQuery>;

/** What one variant costs and gains on one device by one backend, as calibration measured it. */
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
    sizeBytes: z.number().int().nullable().openapi({ description: "Of the variant's file; null where it has none" }),
    p50Ms: z.number().openapi({ description: "Service of one row" }),
    p99Ms: z.number(),
    bestRowsPerS: z.number().openapi({ description: "The most rows a second over all batch sizes" }),
    bestRows: z.number().int().openapi({ description: "The batch size that has it" }),
    memoryBytes: z.number().nullable().openapi({ description: "With one row, by the memory model" }),
    latencyGain: z.number().nullable().openapi({
      description:
        "p50 of the first variant on the same device by the same backend over its own: above 1 is faster; null without one",
    }),
    throughputGain: z.number().nullable().openapi({ description: "The same of the best rows a second" }),
    front: z.boolean().openapi({
      description: "No other eligible placement has more fidelity, less p50 and more rows a second at once",
    }),
  })
  .openapi("TradedPlacement");
export type TradedPlacement = z.infer<typeof TradedPlacement>;

/** Speed against fidelity of a model version. */
export const Trade = z
  .object({
    model: z.string(),
    version: z.number().int().min(1),
    items: z.array(TradedPlacement).openapi({ description: "By device and backend, the variants in their order" }),
  })
  .openapi("Trade");
export type Trade = z.infer<typeof Trade>;
