import { z } from "@hono/zod-openapi";
import { Estimate } from "./score.ts";

const value = z.number().min(0).max(1).openapi({ description: "The variant's fidelity" });

/** How good a variant is, and what that rests on. */
export const MeasuredFidelity = z
  .discriminatedUnion("basis", [
    z.object({
      basis: z.literal("metric"),
      value,
      metric: z.string().max(64),
      rows: z
        .number()
        .int()
        .openapi({ description: "Of the version's data, without those that the variant was made by" }),
      parent: z.number().openapi({ description: "Of the version's own file on these rows" }),
      variant: z.number(),
      difference: Estimate.openapi({ description: "The variant's less its parent's; a bootstrap over pairs of rows" }),
    }),
    z.object({
      basis: z.literal("agreement"),
      value,
      inputs: z.number().int(),
      distribution: z.string().max(256).openapi({ description: "What the inputs were drawn from" }),
      sameTop: z.number().min(0).max(1).openapi({
        description: "Share of inputs with the same largest element in every output",
      }),
      relativeError: z.number().min(0).openapi({
        description: "Root mean square of the differences, relative to that of the parent's answers",
      }),
    }),
  ])
  .openapi("MeasuredFidelity");
export type MeasuredFidelity = z.infer<typeof MeasuredFidelity>;
