import { z } from "@hono/zod-openapi";
import { idSchema } from "./id.ts";
import { LIMITS } from "./limits.ts";
import { Instant, Name, pageOf } from "./page.ts";
import { seriesSelection } from "./series.ts";

const { subject, subjectKind, metric, fingerprint, variant, backend } = seriesSelection;

const baselineFields = {
  run: idSchema("run").optional(),
  label: z.string().min(1).max(LIMITS.nameLength).optional(),
  window: z
    .strictObject({ from: Instant, to: Instant })
    .refine(({ from, to }) => Date.parse(from) < Date.parse(to), { path: ["to"], message: "must lie after from" })
    .optional(),
  selection: z
    .strictObject({ subject, subjectKind, metric, fingerprint, variant, backend })
    .optional()
    .openapi({ description: "Only series with these dimensions" }),
};

/** A name for what later runs are held against: a run, or a label, a window, or both of these. */
export const BaselineInput = z
  .strictObject(baselineFields)
  .refine(({ run, label, window }) => (run === undefined) !== (label === undefined && window === undefined), {
    path: ["run"],
    message: "must be given, or else a label, a window or both",
  })
  .openapi("BaselineInput");
export type BaselineInput = z.infer<typeof BaselineInput>;

export const Baseline = z
  .object({ ...baselineFields, name: Name, version: z.number().int(), updatedAt: Instant })
  .openapi("Baseline");
export type Baseline = z.infer<typeof Baseline>;
export const BaselinePage = pageOf(Baseline, "Baseline");
