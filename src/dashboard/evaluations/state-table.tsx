import { useMemo } from "preact/hooks";
import { formatNumber } from "../../words/numbers.ts";
import { type Replay, type ReplayRecord, type ReplayTrack, tracksOf } from "./replay.ts";
import { DataTable } from "../ui/data-table.tsx";

/** Variables of one table; bodies with joints have dozens. */
const ROWS = 24;
/** Width and height of a line, in units of its own. */
const WIDE = 240;
const TALL = 20;

interface StateTableProps {
  readonly fields: Replay["fields"];
  readonly records: readonly ReplayRecord[];
  readonly step: number;
}

/** Variables of an episode: each value now, and over all steps. */
export function StateTable({ fields, records, step }: StateTableProps) {
  const lines = useMemo(
    () =>
      tracksOf(fields)
        .slice(0, ROWS)
        .map((track) => ({ ...track, points: drawTrack(records, track) })),
    [fields, records],
  );
  const further = tracksOf(fields).length - lines.length;
  const now = records[step] ?? records[0]!;
  const x = records.length === 1 ? 0 : (WIDE * step) / (records.length - 1);
  return (
    <>
      <DataTable
        class="states points"
        caption={`Variables at step ${step}`}
        rows={lines}
        keyOf={({ name }) => name}
        columns={[
          { name: "Variable", head: true, cell: ({ name }) => name },
          { name: "Now", cell: ({ place }) => tell(now[place]) },
          {
            name: "Over the episode",
            cell: ({ points }) => (
              <svg class="track" viewBox={`0 0 ${WIDE} ${TALL}`} preserveAspectRatio="none" aria-hidden="true">
                <polyline points={points} />
                <line x1={x} x2={x} y1={0} y2={TALL} />
              </svg>
            ),
          },
        ]}
      />
      {further > 0 && <p class="muted">{`${further} further variables are in the file.`}</p>}
    </>
  );
}

function tell(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? "–" : formatNumber(value);
}

/** One variable as a line from its smallest to its largest value; the last state has no action. */
function drawTrack(records: readonly ReplayRecord[], { place }: ReplayTrack): string {
  const values = records.map((record) => record[place]!);
  const known = values.filter(Number.isFinite);
  const low = known.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = known.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const span = high - low || 1;
  return values
    .flatMap((value, step) => {
      if (!Number.isFinite(value)) return [];
      const x = (WIDE * step) / Math.max(1, values.length - 1);
      return [`${x.toFixed(1)},${(TALL - 1 - ((value - low) / span) * (TALL - 2)).toFixed(1)}`];
    })
    .join(" ");
}
