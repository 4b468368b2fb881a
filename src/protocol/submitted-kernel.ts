import { z } from "@hono/zod-openapi";
import { checkKernelDefinition } from "./check-kernel-definition.ts";
import { KernelAnnouncement } from "./hardware.ts";
import { idSchema } from "./id.ts";
import { KernelDefinition, kernelFields } from "./kernel-definition.ts";
import { Instant, pageOf } from "./page.ts";
import { Problem } from "./problem.ts";
import { DType } from "./tensor.ts";

/** A kernel as somebody submits it. */
export const KernelInput = z
  .strictObject(kernelFields(z.strictObject as unknown as typeof z.object))
  .superRefine((definition, context) => {
    // What is wrong by itself is told alone.
    if (context.issues.length > 0) return;
    for (const { path, message } of checkKernelDefinition(definition)) {
      context.addIssue({ code: "custom", path: [...path], message });
    }
  })
  .openapi("KernelInput");
export type KernelInput = z.infer<typeof KernelInput>;

/** `valid` once a run was right, until then `invalid` where a run was refused or wrong. */
const KernelState = z.enum(["unchecked", "valid", "invalid"]).openapi("KernelState");

const submittedFields = {
  id: idSchema("kernel"),
  owner: z.string().openapi({ description: "Id of the key that submitted it" }),
  reference: z
    .string()
    .openapi({ description: "The kernel on whose leaderboard it stands: its own id if it competes with none" }),
  state: KernelState,
  createdAt: Instant,
};

/** A submitted kernel with everything that is known of it. */
export const SubmittedKernel = z
  .object({
    ...submittedFields,
    dtype: DType.openapi({ description: "The element type that a job must name" }),
    digest: z.string().openapi({ description: "Of the submission; the same one again gives the same kernel" }),
    problem: Problem.nullable().openapi({
      description: "Why it is invalid, with `file:line:column: message` in `detail`",
    }),
    checkJobId: idSchema("job").nullable().openapi({ description: "The benchmark that checks it first" }),
    definition: KernelDefinition,
  })
  .openapi("SubmittedKernel");
export type SubmittedKernel = z.infer<typeof SubmittedKernel>;

/** A kernel in the list: what a job may name, by `name` if it is announced and by `id` if it was submitted. */
const ListedKernel = KernelAnnouncement.extend({
  source: z.enum(["announced", "submitted"]),
  ...z.object(submittedFields).partial().shape,
}).openapi("ListedKernel");
export type ListedKernel = z.infer<typeof ListedKernel>;
export const KernelPage = pageOf(ListedKernel, "Kernel");
