import { z } from "zod";
import { LIMITS } from "./limits.ts";
import { Problem } from "./problem.ts";

/**
 * A failure during work that was still finished, and its remedy: `retried` once on a device made anew, `smaller-batch`
 * for lack of memory, `cpu-reference` by the kernel's f64 reference, `cpu-backend` by ONNX Runtime on the CPU,
 * `retried-elsewhere` on another placement, or on the other devices that share a job. Results without faults leave the
 * list out.
 */
export const Fault = z
  .object({
    code: Problem.shape.code,
    detail: z.string(),
    action: z.enum(["retried", "smaller-batch", "cpu-reference", "cpu-backend", "retried-elsewhere"]),
  })
  .meta({ id: "Fault" });
export type Fault = z.infer<typeof Fault>;

/** The list as it stands in results; the parts of a batch that was spread have their entries in one. */
export const faultFields = { faults: z.array(Fault).max(LIMITS.faults).optional() };
