import type { ProbeSpec } from "../../protocol/jobs/probe.ts";
import type { JobKindModule, JobSurroundings, Prepared } from "./kind.ts";
import { hasDevice, isFrom } from "./subjects/kernel-devices.ts";

export const probe: JobKindModule<ProbeSpec> = {
  prepare,
  mayRun: ({ deviceKey }, capabilities) => hasDevice(capabilities, deviceKey),
  judgesRunner: () => true,
  answers: (spec, result) => isFrom(result, spec.deviceKey) && result.ok === result.claims.every((claim) => claim.ok),
  store: null,
  verdictSql: "iif(result->>'ok', 'pass', 'fail')",
};

/** Checks that a runner which may take the probe has its device. */
async function prepare(spec: ProbeSpec, { candidates }: JobSurroundings): Promise<Prepared<ProbeSpec>> {
  const keys = new Set(candidates.flatMap(({ capabilities }) => capabilities.devices.map(({ key }) => key)));
  const isKnown = spec.deviceKey === undefined || candidates.length === 0 || keys.has(spec.deviceKey);
  const message = `must be one of: ${[...keys].toSorted().join(", ")}`;
  return { spec, errors: isKnown ? [] : [{ pointer: "#/deviceKey", message }] };
}
