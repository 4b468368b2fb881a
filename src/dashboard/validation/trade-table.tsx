import type { TradedPlacement } from "../../protocol/models/trade-offs.ts";
import { Badge, MarkedName } from "../ui/badges.tsx";
import { formatBytes, formatMeasure, formatNumber, formatShare } from "../../words/numbers.ts";
import { ShowButton } from "../ui/buttons.tsx";
import { DataTable } from "../ui/data-table.tsx";

interface TradeTableProps {
  readonly items: readonly TradedPlacement[];
  /** Id of the placement whose batch sizes are shown. */
  readonly shown: string | null;
  readonly onShow: (item: TradedPlacement) => void;
}

/** Each variant with its speed, its fidelity and what it takes. */
export function TradeTable({ items, shown, onShow }: TradeTableProps) {
  return (
    <DataTable
      class="trade"
      rows={items}
      keyOf={({ placementId }) => placementId}
      columns={[
        {
          name: "Variant",
          head: true,
          cell: ({ variant, software }) => <MarkedName name={variant} software={software} />,
          note: nameDevice,
        },
        { name: "Fidelity", cell: ({ fidelity }) => (fidelity === null ? "–" : formatShare(fidelity)) },
        {
          name: "One row",
          cell: ({ p50Ms, latencyGain }) => `${formatMeasure(p50Ms, "ms")}${gain(latencyGain)}`,
          note: ({ p99Ms }) => `p99 ${formatMeasure(p99Ms, "ms")}`,
        },
        {
          name: "Most rows a second",
          cell: ({ bestRowsPerS, throughputGain }) => `${formatNumber(bestRowsPerS)}/s${gain(throughputGain)}`,
          note: ({ bestRows }) => `in batches of ${bestRows}`,
        },
        {
          name: "Size",
          cell: ({ sizeBytes }) => formatBytes(sizeBytes),
          note: ({ memoryBytes }) => memoryBytes !== null && `${formatBytes(memoryBytes)} loaded`,
        },
        { name: "Pareto", cell: ({ state, front }) => standing(state, front) },
        {
          name: "Batches",
          cell: (item) => (
            <ShowButton
              isShown={item.placementId === shown}
              onShow={() => onShow(item)}
              what={`batch sizes of ${item.variant} on ${nameDevice(item)}`}
            />
          ),
        },
      ]}
    />
  );
}

function nameDevice({ deviceKey, backend }: TradedPlacement): string {
  return `${deviceKey} by ${backend}`;
}

/** Beside the first variant; that one itself gains nothing. */
function gain(value: number | null): string {
  return value === null || value === 1 ? "" : ` (${formatNumber(value)} ×)`;
}

function standing(state: TradedPlacement["state"], front: boolean) {
  if (state === "failed") return <Badge tone="bad">failed</Badge>;
  return front ? <Badge tone="good">on the front</Badge> : <Badge tone="quiet">beaten</Badge>;
}
