import type { Clock } from "../protocol/distribution.ts";

const CLOCKS: Record<Clock, string> = {
  "gpu-timestamp": "timestamp queries on the device",
  "runner-wall": "the runner's monotonic clock",
  "edge-wall": "the edge's clock, in steps of 1 ms",
};

/** The clock behind a series in words. */
export function describeClock({ clock }: { readonly clock: Clock | null }): string {
  return clock === null ? "not stated" : CLOCKS[clock];
}
