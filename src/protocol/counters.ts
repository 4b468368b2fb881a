import { z } from "@hono/zod-openapi";

/** What a benchmark asked of its device, from compilation to the last run. */
export const BenchmarkCounters = z
  .object({
    dispatches: z.number().int(),
    uploadedBytes: z.number().int(),
    readBackBytes: z.number().int().openapi({ description: "Of outputs; timestamps are not counted" }),
    buffersCreated: z.number().int(),
    buffersReused: z.number().int(),
    liveBytes: z.number().int().openapi({ description: "In use on the device when the last run ended" }),
    pipelineHits: z.number().int(),
    pipelineMisses: z.number().int(),
    compileMs: z.number(),
  })
  .openapi("BenchmarkCounters");
export type BenchmarkCounters = z.infer<typeof BenchmarkCounters>;
