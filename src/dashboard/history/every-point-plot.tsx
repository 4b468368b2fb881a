import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import type uPlot from "uplot";
import type { Series } from "../../protocol/history/series.ts";
import type { PlotMarks } from "../plots/plot-marks.ts";
import { usePlot } from "../plots/use-plot.ts";
import { chooseLevel, countBefore, cutColumns, type DrawnColumns, thinColumns } from "./thin-columns.ts";
import { everyPointOptions } from "./every-point-options.ts";
import type { PointColumns } from "./read-every-point.ts";
import { moveByKey, panSpan, type TimeSpan, ZOOM, zoomSpan } from "./time-span.ts";

interface EveryPointPlotProps {
  readonly series: Pick<Series, "subject" | "metric" | "unit">;
  readonly columns: PointColumns;
  readonly marks: PlotMarks;
  readonly whole: TimeSpan;
  readonly span: TimeSpan;
  /** Hears what is shown once a move is over. */
  readonly onSpan: (span: TimeSpan) => void;
  readonly onHover: (index: number | null) => void;
}

/** All points, moved by dragging and by keys, zoomed by the wheel while it has the focus, and by keys. */
export function EveryPointPlot({ series, columns, marks, whole, span, onSpan, onHover }: EveryPointPlotProps) {
  const { metric, unit } = series;
  const plot = useRef<uPlot | null>(null);
  // During a move, the drawn span is ahead of the page's state.
  const shown = useRef(span);
  const drawnMarks = useRef(marks);
  drawnMarks.current = marks;
  const grip = useRef<{ readonly x: number; readonly span: TimeSpan } | null>(null);
  const frameRequest = useRef(0);

  const levels = useRef<ReturnType<typeof thinColumns>>([]);
  const data = useMemo(() => {
    levels.current = thinColumns(columns);
    return toData(cutColumns(levels.current, shown.current, 1));
  }, [columns]);

  const draw = useCallback((next: TimeSpan) => {
    shown.current = next;
    // Of the moves between two frames the last one alone is drawn.
    if (frameRequest.current !== 0) return;
    frameRequest.current = requestAnimationFrame(() => {
      frameRequest.current = 0;
      const drawn = plot.current;
      if (drawn === null) return;
      const [min, max] = shown.current;
      drawn.batch(() => {
        drawn.setData(toData(cutColumns(levels.current, [min, max], drawn.over.clientWidth)), false);
        drawn.setScale("x", { min, max });
      });
    });
  }, []);
  useEffect(() => draw(span), [span, draw, columns]);
  useEffect(() => () => cancelAnimationFrame(frameRequest.current), []);

  const createOptions = useCallback(
    (element: HTMLElement) =>
      everyPointOptions(element, {
        metric,
        unit,
        readSpan: () => shown.current,
        readMarks: () => drawnMarks.current,
        readPaired: () => {
          const width = plot.current?.over.clientWidth ?? 1;
          return chooseLevel(levels.current, shown.current, width).pointsPerBucket > 1;
        },
        onHover: (atS) => onHover(atS === null ? null : countBefore(columns.timesS, atS, false)),
        onReady: (ready) => {
          plot.current = ready;
          draw(shown.current);
        },
      }),
    [metric, unit, onHover, columns, draw],
  );
  const frame = usePlot(createOptions, data);
  useEffect(() => plot.current?.redraw(), [marks]);

  const hold = (event: PointerEvent) => {
    if (event.button !== 0) return;
    grip.current = { x: event.clientX, span: shown.current };
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
  };
  const drag = (event: PointerEvent) => {
    const held = grip.current;
    if (held === null || plot.current === null) return;
    const [fromS, toS] = held.span;
    const secondsPerPx = (toS - fromS) / plot.current.over.clientWidth;
    draw(panSpan(held.span, (held.x - event.clientX) * secondsPerPx, whole));
  };
  const release = () => {
    if (grip.current === null) return;
    grip.current = null;
    onSpan(shown.current);
  };
  const zoom = (event: WheelEvent) => {
    // A page that is scrolled past the plot goes on.
    if (plot.current === null || document.activeElement !== frame.current) return;
    event.preventDefault();
    const { left } = plot.current.over.getBoundingClientRect();
    const aroundS = plot.current.posToVal(event.clientX - left, "x");
    const next = zoomSpan(shown.current, event.deltaY < 0 ? ZOOM : 1 / ZOOM, aroundS, whole);
    draw(next);
    onSpan(next);
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = moveByKey(shown.current, event.key, whole);
    if (next === null) return;
    event.preventDefault();
    draw(next);
    onSpan(next);
  };
  return (
    <div
      ref={frame}
      class="plot-frame every-point"
      role="application"
      aria-roledescription="plot"
      aria-label={`Every point of ${metric} of ${series.subject}, ${columns.timesS.length} of them; arrow keys move, plus and minus zoom, 0 shows all`}
      tabIndex={0}
      onPointerDown={hold}
      onPointerMove={drag}
      onPointerUp={release}
      onPointerCancel={release}
      onWheel={zoom}
      onKeyDown={press}
    />
  );
}

function toData([timesS, ...values]: DrawnColumns): uPlot.AlignedData {
  return [timesS, ...values];
}
