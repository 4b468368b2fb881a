import type { Clock } from "../../protocol/distribution.ts";
import type { Device } from "../../protocol/hardware.ts";

/** Timestamps of a software device are erratic below this. */
const SHORTEST_TRUSTED_MS = 0.1;

/** The clock that all candidates of a search are compared by, however short the fastest of them turn out to be. */
export function chooseSearchClock(description: Pick<Device, "software" | "timestampQuantised">): Clock {
  return description.software ? "runner-wall" : chooseClock(description, Number.POSITIVE_INFINITY);
}

/** The clock that throughput is computed from: the GPU's, where its timestamps can be trusted. */
export function chooseClock(
  { software, timestampQuantised }: Pick<Device, "software" | "timestampQuantised">,
  gpuMs: number | null,
): Clock {
  const trusted = gpuMs !== null && gpuMs > (software ? SHORTEST_TRUSTED_MS : 0) && timestampQuantised === false;
  return trusted ? "gpu-timestamp" : "runner-wall";
}
