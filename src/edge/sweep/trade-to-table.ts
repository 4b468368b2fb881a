import type { Trade } from "../../protocol/trade.ts";
import { type Table, tableOf } from "../http/write-table.ts";

/** A row for each placement. */
export function tradeToTable({ model, version, items }: Trade): Table {
  return tableOf(items, [
    ["model", "text", () => model],
    ["version", "integer", () => version],
    ["placementId", "text", ({ placementId }) => placementId],
    ["variant", "text", ({ variant }) => variant],
    ["backend", "text", ({ backend }) => backend],
    ["runnerId", "text", ({ runnerId }) => runnerId],
    ["deviceKey", "text", ({ deviceKey }) => deviceKey],
    ["software", "boolean", ({ software }) => software],
    ["state", "text", ({ state }) => state],
    ["fidelity", "number", ({ fidelity }) => fidelity],
    ["sizeBytes", "integer", ({ sizeBytes }) => sizeBytes],
    ["p50Ms", "number", ({ p50Ms }) => p50Ms],
    ["p99Ms", "number", ({ p99Ms }) => p99Ms],
    ["bestRowsPerS", "number", ({ bestRowsPerS }) => bestRowsPerS],
    ["bestRows", "integer", ({ bestRows }) => bestRows],
    ["memoryBytes", "number", ({ memoryBytes }) => memoryBytes],
    ["latencyGain", "number", ({ latencyGain }) => latencyGain],
    ["throughputGain", "number", ({ throughputGain }) => throughputGain],
    ["front", "boolean", ({ front }) => front],
  ]);
}
