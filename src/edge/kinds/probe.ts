import type { ProbeSpec } from "../../protocol/jobs/probe.ts";
import type { JobSurroundings, Prepared } from "./prepare-spec.ts";

/** Checks that a probe's device is one that a runner which may take it has. */
export async function prepareProbe(spec: ProbeSpec, { candidates }: JobSurroundings): Promise<Prepared<ProbeSpec>> {
  const keys = new Set(candidates.flatMap(({ capabilities }) => capabilities.devices.map(({ key }) => key)));
  const isKnown = spec.deviceKey === undefined || candidates.length === 0 || keys.has(spec.deviceKey);
  const message = `must be one of: ${[...keys].toSorted().join(", ")}`;
  return { spec, errors: isKnown ? [] : [{ pointer: "#/deviceKey", message }] };
}
