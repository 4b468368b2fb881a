import { z } from "@hono/zod-openapi";

/** Whose output a report is; `native` is our own form. */
export const ReportFormat = z
  .enum(["native", "google-benchmark", "criterion", "hyperfine", "mitata", "tinybench"])
  .openapi("ReportFormat");
export type ReportFormat = z.infer<typeof ReportFormat>;
