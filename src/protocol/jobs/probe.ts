import { z } from "zod";
import { deviceFields, Environment, targetFields } from "./job-fields.ts";
import { LIMITS } from "../wire/limits.ts";

/** Checks what a runner claims of a device by small kernels: features, limits, speed. */
export const probeFields = {
  kind: z.literal("probe"),
  timeoutMs: z.number().int().min(1_000).max(600_000).default(120_000),
  ...targetFields,
  ...deviceFields,
};
export const ProbeSpec = z.object(probeFields).meta({ id: "ProbeSpec" });
export type ProbeSpec = z.infer<typeof ProbeSpec>;

/** One claim and what a kernel found. */
export const ProbedClaim = z
  .object({
    claim: z.string().max(128),
    claimed: z.string().max(128),
    found: z.string().max(256),
    ok: z.boolean(),
  })
  .meta({ id: "ProbedClaim" });
export type ProbedClaim = z.infer<typeof ProbedClaim>;

export const ProbeResult = z
  .object({
    kind: z.literal("probe"),
    ok: z.boolean(),
    claims: z.array(ProbedClaim).min(1).max(LIMITS.probedClaims),
    environment: Environment,
  })
  .meta({ id: "ProbeResult" });
export type ProbeResult = z.infer<typeof ProbeResult>;
