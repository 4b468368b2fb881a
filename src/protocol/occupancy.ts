import { z } from "@hono/zod-openapi";

/**
 * How much of a processor a kernel's workgroups can fill, by the rules of its architecture and not by
 * measurement. WebGPU does not tell how many registers a lane takes, so the real figure may be lower.
 */
export const PredictedOccupancy = z
  .object({
    label: z.literal("predicted"),
    architecture: z.string(),
    unit: z.enum(["SM", "WGP"]).openapi({ description: "The processor that the figures are of" }),
    wavesPerWorkgroup: z.number().int(),
    workgroupMemoryBytes: z.number().int(),
    workgroups: z.number().int().openapi({ description: "Resident on one processor at a time, at most" }),
    waves: z.number().int(),
    maxWaves: z.number().int(),
    share: z.number().openapi({ description: "waves / maxWaves: an upper bound" }),
    limitedBy: z.enum(["waves", "workgroups", "workgroup-memory"]),
    registers: z.enum(["unknown", "given"]),
  })
  .openapi("PredictedOccupancy");
export type PredictedOccupancy = z.infer<typeof PredictedOccupancy>;
