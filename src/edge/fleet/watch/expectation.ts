import { z } from "zod";
import { Backend } from "../../../protocol/fleet/hardware.ts";
import type { PlacementHealth } from "../../../protocol/fleet/health.ts";
import type { Placement } from "../../../protocol/models/model.ts";
import { Requirement } from "../../../protocol/models/requirement.ts";
import { isSameConfiguration, ServingConfiguration } from "../../../protocol/fleet/serving.ts";

/** Reference that the probes of a placement are compared with. */
export const Expectation = z.object({
  placementId: z.string(),
  modelVersionId: z.string(),
  variant: z.string(),
  deviceKey: z.string(),
  backend: Backend,
  /** Name of the placement, for example `lenet5@1 int8 on cpu by ort-cpu`. */
  subject: z.string(),
  configuration: ServingConfiguration,
  /** Latency of one row at a time; null where nothing was measured under this configuration. */
  service: z.object({ source: z.enum(["validated", "calibrated"]), p50Ms: z.number(), p95Ms: z.number() }).nullable(),
  /** Requirements of its latest validation. */
  requirements: z.array(Requirement),
  /** Largest calibrated batch. */
  batchRows: z.number(),
});
export type Expectation = z.infer<typeof Expectation>;

/** Expectation of a placement: from its validation, else from its calibration with one row. */
export function expectationOf(placement: Placement & { readonly subject: string }): Expectation {
  const { id, modelVersionId, variant, deviceKey, backend, subject, configuration, validated, sweep } = placement;
  return {
    placementId: id,
    modelVersionId,
    variant,
    deviceKey,
    backend,
    configuration,
    subject,
    service: serviceOf(placement),
    requirements: validated?.requirements ?? [],
    batchRows: sweep.at(-1)?.rows ?? 1,
  };
}

function serviceOf({ validated, sweep }: Placement): Expectation["service"] {
  const proven = validated?.serviceMs ?? null;
  if (proven !== null) return { source: "validated", p50Ms: proven.p50, p95Ms: proven.p95 };
  const [single] = sweep;
  if (single === undefined || single.rows !== 1) return null;
  return { source: "calibrated", p50Ms: single.serviceMs.p50, p95Ms: single.serviceMs.p95 };
}

/** Expectation of a placement in a report; null where its serving configuration has changed since. */
export function findExpectation(expectations: readonly Expectation[], told: PlacementHealth): Expectation | null {
  const found = expectations.find(
    ({ modelVersionId, variant, deviceKey, backend }) =>
      modelVersionId === told.modelVersionId &&
      variant === told.variant &&
      deviceKey === told.deviceKey &&
      backend === told.backend,
  );
  return found !== undefined && isSameConfiguration(told.configuration, found.configuration) ? found : null;
}
