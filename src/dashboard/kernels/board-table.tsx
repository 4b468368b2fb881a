import type { Board } from "../../protocol/leaderboard.ts";
import { formatMeasure, formatNumber, formatShare } from "../format.ts";
import { writeAddress } from "../page-address.ts";
import { Timestamp } from "../timestamp.tsx";

interface BoardTableProps {
  readonly board: Board;
  /** The kernel that somebody came for. */
  readonly own: string;
}

/** One board: the best run of each kernel, the fastest first. */
export function BoardTable({ board: { entries }, own }: BoardTableProps) {
  const bestMs = entries[0]?.medianMs ?? Number.NaN;
  return (
    <table class="boards">
      <thead>
        <tr>
          <th scope="col">Rank and kernel</th>
          <th scope="col">Median</th>
          <th scope="col">Beside the best</th>
          <th scope="col">Share of the roof</th>
          <th scope="col">Iterations</th>
          <th scope="col">Run</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ rank, kernel, name, variant, medianMs, interval, iterations, shareOfRoof, runId, at }) => (
          <tr key={kernel} aria-current={kernel === own}>
            <th scope="row">
              {`${rank}. `}
              {kernel === own ? name : <a href={`/${writeAddress({ view: "kernels", kernel })}`}>{name}</a>}
              <small>{variant}</small>
            </th>
            <td data-label="Median">
              {formatMeasure(medianMs, "ms")}
              <small>{`${formatNumber(interval.lowMs)} to ${formatNumber(interval.highMs)} ms`}</small>
            </td>
            <td data-label="Beside the best">{rank === 1 ? "best" : `${formatNumber(medianMs / bestMs)} ×`}</td>
            <td data-label="Share of the roof">
              {shareOfRoof === null ? <span class="muted">not known</span> : formatShare(shareOfRoof)}
            </td>
            <td data-label="Iterations">{iterations}</td>
            <td data-label="Run" title={runId}>
              <Timestamp at={at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
