import { EDGE_RUNNER_ID } from "../../protocol/edge-place.ts";
import type { InferReply } from "../../protocol/inference.ts";

type Place = Pick<InferReply["placement"], "deviceKey" | "runnerId" | "backend" | "software">;

/** Where an answer was computed, as people say it. */
export function namePlace({ deviceKey, runnerId, backend, software }: Place): string {
  const place = runnerId === EDGE_RUNNER_ID ? "the edge itself" : `${deviceKey} of ${runnerId}`;
  return `${place} by ${backend}${software ? " (software)" : ""}`;
}
