import type { TradedPlacement } from "../../protocol/models/trade-offs.ts";
import { Badge, SoftwareBadge } from "../ui/badges.tsx";
import { formatBytes, formatMeasure, formatNumber, formatShare } from "../../words/numbers.ts";

interface TradeTableProps {
  readonly items: readonly TradedPlacement[];
  /** Id of the placement whose batch sizes are shown. */
  readonly shown: string | null;
  readonly onShow: (item: TradedPlacement) => void;
}

/** Each variant with its speed, its fidelity and what it takes. */
export function TradeTable({ items, shown, onShow }: TradeTableProps) {
  return (
    <table class="trade">
      <thead>
        <tr>
          <th scope="col">Variant</th>
          <th scope="col">Fidelity</th>
          <th scope="col">One row</th>
          <th scope="col">Most rows a second</th>
          <th scope="col">Size</th>
          <th scope="col">Pareto</th>
          <th scope="col">Batches</th>
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <TradeRow key={item.placementId} item={item} isShown={item.placementId === shown} onShow={onShow} />
        ))}
      </tbody>
    </table>
  );
}

interface TradeRowProps {
  readonly item: TradedPlacement;
  readonly isShown: boolean;
  readonly onShow: (item: TradedPlacement) => void;
}

function TradeRow({ item, isShown, onShow }: TradeRowProps) {
  const { variant, backend, deviceKey, software, state, fidelity, p50Ms, p99Ms, bestRowsPerS, bestRows } = item;
  const place = `${deviceKey} by ${backend}`;
  return (
    <tr>
      <th scope="row">
        {variant} {software && <SoftwareBadge />}
        <small>{place}</small>
      </th>
      <td data-label="Fidelity">{fidelity === null ? "–" : formatShare(fidelity)}</td>
      <td data-label="One row">
        {`${formatMeasure(p50Ms, "ms")}${gain(item.latencyGain)}`}
        <small>{`p99 ${formatMeasure(p99Ms, "ms")}`}</small>
      </td>
      <td data-label="Most rows a second">
        {`${formatNumber(bestRowsPerS)}/s${gain(item.throughputGain)}`}
        <small>{`in batches of ${bestRows}`}</small>
      </td>
      <td data-label="Size">
        {item.sizeBytes === null ? "–" : formatBytes(item.sizeBytes)}
        {item.memoryBytes !== null && <small>{`${formatBytes(item.memoryBytes)} loaded`}</small>}
      </td>
      <td data-label="Pareto">{standing(state, item.front)}</td>
      <td data-label="Batches">
        <button type="button" aria-pressed={isShown} onClick={() => onShow(item)}>
          Show<span class="unseen">{` batch sizes of ${variant} on ${place}`}</span>
        </button>
      </td>
    </tr>
  );
}

/** Beside the first variant; that one itself gains nothing. */
function gain(value: number | null): string {
  return value === null || value === 1 ? "" : ` (${formatNumber(value)} ×)`;
}

function standing(state: TradedPlacement["state"], front: boolean) {
  if (state === "failed") return <Badge tone="bad">failed</Badge>;
  return front ? <Badge tone="good">on the front</Badge> : <Badge tone="quiet">beaten</Badge>;
}
