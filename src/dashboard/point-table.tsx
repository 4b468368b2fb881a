import type { HistoryPoint } from "../protocol/history.ts";
import type { Series } from "../protocol/series.ts";
import { DRAWN_PERCENTILES } from "./drawn-percentiles.ts";
import { formatNumber } from "./format.ts";
import { Timestamp } from "./timestamp.tsx";

const ROWS = 10;

/** The latest points as numbers, for those who cannot see the plot or want to copy them. */
export function PointTable({ series, points }: { series: Pick<Series, "unit">; points: readonly HistoryPoint[] }) {
  return (
    <details>
      <summary>Latest points as a table</summary>
      <table class="points">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Samples</th>
            {DRAWN_PERCENTILES.map((percentile) => (
              <th key={percentile} scope="col">{`${percentile} (${series.unit})`}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {points
            .slice(-ROWS)
            .toReversed()
            .map((point) => (
              <tr key={point.at}>
                <td>
                  <Timestamp at={point.at} />
                </td>
                <td>{point.count}</td>
                {DRAWN_PERCENTILES.map((percentile) => (
                  <td key={percentile}>{formatNumber(point.percentiles[percentile] ?? Number.NaN)}</td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </details>
  );
}
