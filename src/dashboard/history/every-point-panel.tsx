import { useCallback, useMemo, useState } from "preact/hooks";
import type { Series } from "../../protocol/history/series.ts";
import { DRAWN_PERCENTILES, NO_MARKS, toMarks } from "../plots/plot-marks.ts";
import { formatMeasure, formatNumber } from "../../words/numbers.ts";
import { Panel } from "../ui/panels.tsx";
import { readHappened } from "../plots/series/series-history.ts";
import { Timestamp } from "../ui/timestamp.tsx";
import { useResource } from "../ui/hooks/use-resource.ts";
import type { ViewProps } from "../ui/view-props.ts";
import { countBefore } from "./thin-columns.ts";
import { EveryPointPlot } from "./every-point-plot.tsx";
import { MOST_POINTS, type PointColumns, readEveryPoint } from "./read-every-point.ts";
import { moveByKey, readSpan, type TimeSpan, writeSpan } from "./time-span.ts";

/** Buttons for those without keys, by the keys that do the same. */
const MOVES = [
  ["ArrowLeft", "Earlier"],
  ["ArrowRight", "Later"],
  ["+", "Closer"],
  ["-", "Wider"],
  ["0", "All"],
] as const;

interface EveryPointPanelProps extends Pick<ViewProps, "client" | "address" | "onPick"> {
  readonly series: Series;
}

/** A series point by point as it was measured, to be moved through; it is read when it is asked for. */
export function EveryPointPanel({ client, address, onPick, series }: EveryPointPanelProps) {
  const { id } = series;
  const [isWanted, setWanted] = useState(address.span !== undefined);
  const [read, setRead] = useState(0);
  const every = useResource(
    useCallback(
      async (signal: AbortSignal) => {
        if (!isWanted) return null;
        const columns = await readEveryPoint(client, id, setRead, signal);
        const [fromS = 0] = columns.timesS;
        const spanMs = Date.now() - 1_000 * fromS;
        return { columns, happened: await readHappened(client, id, { spanMs }, signal) };
      },
      [client, id, isWanted],
    ),
  );
  const { value, error } = every;
  return (
    <Panel
      id="every-point"
      title="Every point"
      resource={every}
      aside={
        isWanted ? (
          <button type="button" onClick={every.refresh}>
            Read again
          </button>
        ) : (
          <button type="button" onClick={() => setWanted(true)}>
            {series.points === 1
              ? "Load the point"
              : `Load ${formatNumber(Math.min(series.points, MOST_POINTS))} points`}
          </button>
        )
      }
    >
      {!isWanted && <p class="muted">As measured, without steps: to be moved through by dragging and by keys.</p>}
      {isWanted && value === null && (
        <>
          <div class="readout" />
          <div class="plot">
            <p class="muted plot-note" role="status">
              {error === null ? `Reading points: ${formatNumber(read)} …` : "The points could not be read."}
            </p>
          </div>
        </>
      )}
      {value !== null && value.columns.timesS.length === 0 && <p class="muted">No point of this series is kept.</p>}
      {value !== null && value.columns.timesS.length > 0 && (
        <Explorer
          series={series}
          {...value}
          asked={address.span}
          onSpan={(span) => onPick({ series: id, span: writeSpan(span) })}
        />
      )}
    </Panel>
  );
}

interface ExplorerProps {
  readonly series: Series;
  readonly columns: PointColumns;
  readonly happened: Awaited<ReturnType<typeof readHappened>>;
  /** Span from the address. */
  readonly asked: string | undefined;
  readonly onSpan: (span: TimeSpan) => void;
}

function Explorer({ series, columns, happened, asked, onSpan }: ExplorerProps) {
  const whole = useMemo(() => spanOf(columns), [columns]);
  const span = useMemo(() => readSpan(asked, whole) ?? whole, [asked, whole]);
  const [hovered, setHovered] = useState<number | null>(null);
  const marks = useMemo(
    () => (columns.timesS.length === 0 ? NO_MARKS : toMarks(happened.happened, happened.hardwareChanges, whole)),
    [columns, happened, whole],
  );
  const move = (key: string) => {
    const next = moveByKey(span, key, whole);
    if (next !== null) onSpan(next);
  };
  const { timesS } = columns;
  const shown = countWithin(timesS, span);
  return (
    <figure>
      <div class="plot-head">
        <Readout series={series} columns={columns} index={hovered ?? timesS.length - 1} />
        <div class="moves" role="group" aria-label="Move">
          {MOVES.map(([key, name]) => (
            <button key={key} type="button" onClick={() => move(key)}>
              {name}
            </button>
          ))}
        </div>
      </div>
      <div class="plot">
        <EveryPointPlot
          series={series}
          columns={columns}
          marks={marks}
          whole={whole}
          span={span}
          onSpan={onSpan}
          onHover={setHovered}
        />
      </div>
      <p class="muted" role="status">
        {`${formatNumber(shown)} of ${formatNumber(timesS.length)} points, `}
        <Timestamp at={new Date(1_000 * span[0]).toISOString()} />
        {" to "}
        <Timestamp at={new Date(1_000 * span[1]).toISOString()} />
        {columns.truncated ? `; older ones than the latest ${formatNumber(MOST_POINTS)} are not shown.` : "."}
      </p>
    </figure>
  );
}

function Readout({ series, columns, index }: { series: Series; columns: PointColumns; index: number }) {
  const { timesS, counts, percentiles } = columns;
  const atS = timesS[index];
  return (
    <div class="readout">
      {DRAWN_PERCENTILES.map((name, place) => (
        <span key={name}>
          <i class={`swatch plain ${name}`} /> {name}{" "}
          <b>{formatMeasure(percentiles[place]?.[index] ?? Number.NaN, series.unit)}</b>
        </span>
      ))}
      {atS !== undefined && (
        <span class="muted">
          at <Timestamp at={new Date(1_000 * atS).toISOString()} /> · {counts[index]} samples
        </span>
      )}
    </div>
  );
}

/** From the first point to the last; one alone has a minute around it. */
function spanOf({ timesS }: PointColumns): TimeSpan {
  const [first = 0] = timesS;
  const last = timesS.at(-1) ?? first;
  return last > first ? [first, last] : [first - 30, first + 30];
}

function countWithin(timesS: Float64Array, [fromS, toS]: TimeSpan): number {
  return countBefore(timesS, toS, true) - countBefore(timesS, fromS, false);
}
