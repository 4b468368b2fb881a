import type { LatencySplit } from "../../protocol/inference.ts";
import { formatWith } from "../render/format-values.ts";

/** In the order in which a request goes through them. */
const PARTS = ["edgeMs", "linkMs", "queueMs", "uploadMs", "computeMs", "readbackMs"] as const;
const BAR_COLUMNS = 40;

/** Where the time went: each part a bar that begins where the one before ends, so that they fill the whole. */
export function latencyBars(latency: LatencySplit): [name: string, value: string][] {
  const sum = PARTS.reduce((total, part) => total + latency[part], 0);
  let before = 0;
  return PARTS.map((part) => {
    const [from, to] = [before, before + latency[part]].map((at) =>
      sum > 0 ? Math.round((BAR_COLUMNS * at) / sum) : 0,
    );
    before += latency[part];
    // A part that took any time is seen.
    const length = Math.max((to ?? 0) - (from ?? 0), latency[part] > 0 ? 1 : 0);
    const start = Math.min(from ?? 0, BAR_COLUMNS - length);
    const bar = `${"·".repeat(start)}${"█".repeat(length)}`.padEnd(BAR_COLUMNS, "·");
    return [part.slice(0, -2), `${bar}  ${formatWith(latency[part], "ms")}`];
  });
}
