import { z } from "@hono/zod-openapi";
import { Backend } from "./hardware.ts";
import { Name } from "./page.ts";
import { DType } from "./tensor.ts";

const modelFields = {
  kind: z.literal("model"),
  model: z
    .string()
    .min(1)
    .max(128)
    .openapi({ description: "Name or id of a model or policy; `name@2` names a version" }),
  variant: Name.optional().openapi({ description: "Absent: as requests would get it" }),
  backend: Backend.exclude(["edge-wasm"]).optional(),
};

const kernelFields = {
  kind: z.literal("kernel"),
  kernel: Name.openapi({ description: "A kernel that runners announce" }),
  shape: z.record(z.string(), z.number().int().min(1)).default({}),
  dtype: DType.optional(),
  variant: Name.optional(),
};

/** What is validated or optimised. */
export const JobSubject = z
  .discriminatedUnion("kind", [z.object(modelFields), z.object(kernelFields)])
  .openapi("JobSubject");
export type JobSubject = z.infer<typeof JobSubject>;

/** The same as it is asked for: a field that is not known is a mistake. */
export const JobSubjectInput = z
  .discriminatedUnion("kind", [z.strictObject(modelFields), z.strictObject(kernelFields)])
  .openapi("JobSubjectInput");
