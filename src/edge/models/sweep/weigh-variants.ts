import { FIRST_VARIANT, type ModelVersion, type Placement } from "../../../protocol/models/model.ts";
import type { Trade, TradedPlacement } from "../../../protocol/models/trade-offs.ts";
import { paretoFront } from "../../../stats/compare/trade-offs.ts";
import { type Table, tableOf } from "../../http/write-table.ts";
import { rowsPerSecond } from "./analyse-sweep.ts";

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

/** Gain and cost of each placement of a version, relative to its first variant in the same place. */
export function weighVariants(version: ModelVersion, placements: readonly Placement[]): TradedPlacement[] {
  const measured = placements.map((placement) => measure(placement, version));
  const bases = new Map(
    measured
      .filter(({ variant, state }) => variant === FIRST_VARIANT && state === "eligible")
      .map((row) => [placeOf(row), row]),
  );
  const front = new Set(
    [true, false].flatMap((software) => frontOf(measured.filter((row) => row.software === software))),
  );
  const order = new Map(version.variants.map(({ name }, index) => [name, index]));
  const rank = ({ variant }: TradedPlacement) => order.get(variant) ?? order.size;
  return measured
    .map((row): TradedPlacement => {
      const base = bases.get(placeOf(row));
      return {
        ...row,
        latencyGain: base === undefined ? null : base.p50Ms / row.p50Ms,
        throughputGain: base === undefined ? null : row.bestRowsPerS / base.bestRowsPerS,
        front: front.has(row.placementId),
      };
    })
    .toSorted((a, b) => placeOf(a).localeCompare(placeOf(b)) || rank(a) - rank(b));
}

type Measured = Omit<TradedPlacement, "latencyGain" | "throughputGain" | "front">;

function measure(placement: Placement, version: ModelVersion): Measured {
  const { id, variant, backend, runnerId, deviceKey, software, state, fidelity, sweep, memory } = placement;
  const single = sweep[0]?.serviceMs;
  if (single === undefined) throw new RangeError("a sweep has a step at least");
  const steps = sweep.map(({ rows, serviceMs }) => ({ rows, rowsPerS: rowsPerSecond(rows, serviceMs.p50) }));
  const best = steps.reduce((most, step) => (step.rowsPerS > most.rowsPerS ? step : most));
  return {
    placementId: id,
    variant,
    backend,
    runnerId,
    deviceKey,
    software,
    state,
    fidelity,
    sizeBytes: version.variants.find(({ name }) => name === variant)?.sizeBytes ?? null,
    p50Ms: single.p50,
    p99Ms: single.p99,
    bestRowsPerS: best.rowsPerS,
    bestRows: best.rows,
    memoryBytes: memory === null ? null : memory.baseBytes + memory.bytesPerRow,
  };
}

function placeOf({ runnerId, deviceKey, backend }: Pick<Measured, "runnerId" | "deviceKey" | "backend">): string {
  return `${runnerId} ${deviceKey} ${backend}`;
}

/** Ids of the placements that no other eligible one beats in fidelity, latency and throughput at once. */
function frontOf(rows: readonly Measured[]): string[] {
  const eligible = rows.filter(({ state }) => state === "eligible");
  return paretoFront(eligible, ["higher", "lower", "higher"], ({ fidelity, p50Ms, bestRowsPerS }) => [
    fidelity ?? 0,
    p50Ms,
    bestRowsPerS,
  ]).map(({ placementId }) => placementId);
}
