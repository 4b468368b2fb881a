import type { Placement } from "../protocol/model.ts";
import { Badge } from "./badge.tsx";
import { formatMeasure, formatShare } from "./format.ts";
import { SoftwareBadge } from "./software-badge.tsx";

/** How long one row takes by each variant and backend on each device; the fastest first. */
export function LatencyTable({ placements }: { readonly placements: readonly Placement[] }) {
  const rising = placements.toSorted((a, b) => medianOf(a) - medianOf(b));
  return (
    <table class="judgements">
      <thead>
        <tr>
          <th scope="col">Device</th>
          <th scope="col">Variant</th>
          <th scope="col">p50</th>
          <th scope="col">p95</th>
          <th scope="col">p99</th>
          <th scope="col">Fidelity</th>
        </tr>
      </thead>
      <tbody>
        {rising.map(({ id, runnerId, deviceKey, software, variant, backend, state, fidelity, sweep: [first] }) => (
          <tr key={id}>
            <th scope="row" title={runnerId}>
              {deviceKey} {software && <SoftwareBadge />}
              <small>{`by ${backend}`}</small>
            </th>
            <td data-label="Variant">{variant}</td>
            {(["p50", "p95", "p99"] as const).map((percentile) => (
              <td key={percentile} data-label={percentile}>
                {first === undefined ? "–" : formatMeasure(first.serviceMs[percentile], "ms")}
              </td>
            ))}
            <td data-label="Fidelity">
              {state === "failed" ? <Badge tone="bad">failed</Badge> : fidelity === null ? "–" : formatShare(fidelity)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function medianOf({ sweep }: Placement): number {
  return sweep[0]?.serviceMs.p50 ?? Number.POSITIVE_INFINITY;
}
