import type { DiagnosisCheck } from "../../protocol/health.ts";

/** A line of a diagnosis, of the whole runner unless it says otherwise. Advice is for what failed alone. */
export function makeCheck(
  check: DiagnosisCheck["check"],
  fields: Pick<DiagnosisCheck, "measured" | "limit" | "unit" | "outcome" | "detail"> & {
    readonly deviceKey?: string | null;
    readonly placementId?: string | null;
    readonly advice: string;
  },
): DiagnosisCheck {
  const { deviceKey = null, placementId = null, advice, ...rest } = fields;
  return { check, deviceKey, placementId, ...rest, advice: rest.outcome === "fail" ? advice : null };
}
