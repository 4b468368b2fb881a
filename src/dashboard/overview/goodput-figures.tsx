import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { formatNumber } from "../../words/numbers.ts";
import { timeAxis, timeScale } from "../plots/plot-options.ts";
import { readPlotTheme } from "../plots/plot-theme.ts";
import { usePlot } from "../plots/use-plot.ts";
import { Timestamp } from "../ui/timestamp.tsx";
import type { Goodput } from "./goodput.ts";
import { DataTable } from "../ui/data-table.tsx";

const SECONDS_PER_MINUTE = 60;

/** Answers a second over time. */
export function GoodputPlot({ goodput: { minutes }, label }: { goodput: Goodput; label: string }) {
  const data = useMemo((): uPlot.AlignedData => {
    // The minute that is under way would look like a drop.
    const whole = minutes.slice(0, -1);
    return [whole.map(({ atMs }) => atMs / 1_000), whole.map(({ answered }) => answered / SECONDS_PER_MINUTE)];
  }, [minutes]);
  const frame = usePlot(goodputOptions, data);
  return <div ref={frame} class="plot-frame" role="img" aria-label={label} />;
}

function goodputOptions(element: HTMLElement): uPlot.Options {
  const { colour, axis, frame } = readPlotTheme(element);
  return {
    ...frame,
    cursor: { show: false },
    scales: { x: timeScale, y: { range: (_, _min, max) => [0, (max ?? 0) > 0 ? (max ?? 0) * 1.15 : 1] } },
    axes: [
      { ...axis, ...timeAxis },
      {
        ...axis,
        size: 52,
        values: (_, splits) => splits.map(formatNumber),
      },
    ],
    series: [{}, { stroke: colour("p50"), width: 2, points: { show: false } }],
  };
}

/** The minutes that had requests, the latest first. */
export function MinuteTable({ minutes }: Pick<Goodput, "minutes">) {
  const busy = minutes.filter(({ answered, missed }) => answered > 0 || Object.keys(missed).length > 0).toReversed();
  return (
    <details>
      <summary>By the minute as a table</summary>
      <DataTable
        class="points"
        rows={busy}
        keyOf={({ atMs }) => atMs}
        columns={[
          { name: "Minute", cell: ({ atMs }) => <Timestamp at={new Date(atMs).toISOString()} /> },
          { name: "Answered", cell: ({ answered }) => formatNumber(answered) },
          { name: "Predicted to be in time", cell: ({ predicted }) => formatNumber(predicted) },
          { name: "In time", cell: ({ inTime }) => formatNumber(inTime) },
          {
            name: "Without an answer",
            cell: ({ missed }) => formatNumber(Object.values(missed).reduce((sum, count) => sum + count, 0)),
          },
        ]}
      />
    </details>
  );
}

/** Colours of reasons; of more than these the last one is for all. */
const STYLES = 5;
const HEIGHT = 100;

/** The style of a reason by its place; the style sheet has the colours. */
export function reasonStyleOf(index: number): number {
  return Math.min(index, STYLES - 1);
}

/** Requests without an answer by the minute, stacked by reason in the order of the table below. */
export function MissBars({ goodput: { minutes, missed } }: { goodput: Goodput }) {
  const totals = minutes.map(({ missed: byReason }) => Object.values(byReason).reduce((sum, count) => sum + count, 0));
  const most = Math.max(...totals);
  if (most === 0) return <p class="muted plot-note">Every request got its answer.</p>;
  const told = missed.map(({ reason, count }) => `${reason} ${formatNumber(count)}`).join(", ");
  return (
    <div class="miss-bars">
      <span class="muted">{`${formatNumber(most)} a minute`}</span>
      <svg
        viewBox={`0 0 ${minutes.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Requests without an answer over ${minutes.length} minutes: ${told}`}
      >
        {minutes.flatMap(({ atMs, missed: byReason }, minute) => {
          let top = HEIGHT;
          return missed.map(({ reason }, index) => {
            const height = ((byReason[reason] ?? 0) / most) * HEIGHT;
            top -= height;
            if (height === 0) return null;
            return (
              <rect
                key={`${atMs} ${reason}`}
                class={`reason-${reasonStyleOf(index)}`}
                x={minute + 0.1}
                y={top}
                width={0.8}
                height={height}
              />
            );
          });
        })}
      </svg>
      <span class="miss-times muted">
        <span>{`${minutes.length - 1} min ago`}</span>
        <span>now</span>
      </span>
    </div>
  );
}
