import { useCallback, useMemo, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { Placement, SweepStep } from "../../protocol/models/model.ts";
import { formatMeasure, formatNumber } from "../../words/numbers.ts";
import { logRange } from "../plots/plot-data.ts";
import { readPlotTheme } from "../plots/plot-theme.ts";
import { usePlot } from "../plots/use-plot.ts";
import { SoftwareBadge } from "../ui/badges.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { Picker } from "../ui/forms/picker.tsx";

/** uPlot's options for p50 and p99 over the rows of a batch, with the band between them; both axes are logarithmic. */
function calibrationOptions(element: HTMLElement, onHover: (index: number | null) => void): uPlot.Options {
  const { colour, namedAxis, frame } = readPlotTheme(element);
  const line = (label: string, dash: number[]): uPlot.Series => {
    const stroke = colour(label);
    return { label, stroke, width: 1.75, dash, points: { show: true, size: 5, stroke, fill: stroke } };
  };
  const values: uPlot.Axis.DynamicValues = (_, splits) =>
    splits.map((split) => (split === null ? "" : formatNumber(split)));
  return {
    ...frame,
    scales: {
      // Batches double: each has its own place.
      x: { time: false, distr: 3, log: 2, range: (_, min, max) => [(min ?? 1) / 1.2, (max ?? 1) * 1.2] },
      y: { distr: 3, range: (_, min, max) => logRange(min, max) },
    },
    axes: [
      {
        ...namedAxis("rows of a batch", 26),
        splits: (self) => [...(self.data[0] ?? [])],
        values,
      },
      { ...namedAxis("service (ms)", 52), values },
    ],
    series: [{}, line("p50", []), line("p99", [2, 3])],
    bands: [{ series: [2, 1], fill: `color-mix(in srgb, ${colour("p50")} 18%, transparent)` }],
    hooks: { setCursor: [(self) => onHover(self.cursor.idx ?? null)] },
  };
}

interface CalibrationFigureProps {
  readonly placements: readonly Placement[];
  /** Id of the picked placement. */
  readonly picked: string | undefined;
  readonly onPick: (id: string) => void;
}

/** The service of one placement by the rows of a batch, as its calibration measured it: drawn, and as a table. */
export function CalibrationFigure({ placements, picked, onPick }: CalibrationFigureProps) {
  const shown = placements.find(({ id }) => id === picked) ?? fastestOf(placements);
  const [hovered, setHovered] = useState<number | null>(null);
  if (shown === undefined) return null;
  const { sweep, software } = shown;
  const step = sweep[hovered ?? -1] ?? sweep.at(-1);
  return (
    <figure class="calibration">
      <div class="plot-head">
        <div class="readout">
          <span>
            <i class="swatch" /> p50 <b>{step === undefined ? "–" : formatMeasure(step.serviceMs.p50, "ms")}</b>
          </span>
          <span>
            <i class="swatch p99" /> p99 <b>{step === undefined ? "–" : formatMeasure(step.serviceMs.p99, "ms")}</b>
          </span>
          {step !== undefined && <span class="muted">{`batches of ${step.rows}`}</span>}
          {software && <SoftwareBadge />}
        </div>
        <div class="picker">
          <Picker
            label="Placement"
            value={shown.id}
            options={placements.map((placement) => [placement.id, namePlacement(placement)])}
            onPick={onPick}
          />
        </div>
      </div>
      <CalibrationPlot key={shown.id} sweep={sweep} label={describe(shown)} onHover={setHovered} />
      <SweepTable sweep={sweep} />
    </figure>
  );
}

interface CalibrationPlotProps {
  readonly sweep: readonly SweepStep[];
  readonly label: string;
  readonly onHover: (index: number | null) => void;
}

function CalibrationPlot({ sweep, label, onHover }: CalibrationPlotProps) {
  const data = useMemo(
    () => [
      sweep.map(({ rows }) => rows),
      sweep.map(({ serviceMs }) => drawable(serviceMs.p50)),
      sweep.map(({ serviceMs }) => drawable(serviceMs.p99)),
    ],
    [sweep],
  );
  const createOptions = useCallback((element: HTMLElement) => calibrationOptions(element, onHover), [onHover]);
  const frame = usePlot(createOptions, data as [number[], (number | null)[], (number | null)[]]);
  return (
    <div class="plot">
      <div ref={frame} class="plot-frame" role="img" aria-label={label} />
    </div>
  );
}

/** Null for values below the clock's resolution, which a logarithmic axis cannot show. */
function drawable(durationMs: number): number | null {
  return durationMs > 0 ? durationMs : null;
}

function SweepTable({ sweep }: { readonly sweep: readonly SweepStep[] }) {
  return (
    <details>
      <summary>{`All ${sweep.length} batch sizes as a table`}</summary>
      <DataTable
        class="points"
        rows={sweep}
        keyOf={({ rows }) => rows}
        columns={[
          { name: "Rows", cell: ({ rows }) => rows },
          { name: "p50 (ms)", cell: ({ serviceMs: { p50 } }) => formatNumber(p50) },
          { name: "p99 (ms)", cell: ({ serviceMs: { p99 } }) => formatNumber(p99) },
          {
            name: "Rows/s",
            cell: ({ rows, serviceMs: { p50 } }) => (p50 > 0 ? formatNumber((rows / p50) * 1_000) : "–"),
          },
          { name: "Timed", cell: ({ serviceMs: { count } }) => formatNumber(count) },
        ]}
      />
    </details>
  );
}

function fastestOf(placements: readonly Placement[]): Placement | undefined {
  const medianOf = ({ sweep }: Placement) => sweep[0]?.serviceMs.p50 ?? Number.POSITIVE_INFINITY;
  return placements.toSorted((a, b) => medianOf(a) - medianOf(b))[0];
}

function namePlacement({ variant, backend, deviceKey, id }: Placement): string {
  return `${variant} by ${backend} on ${deviceKey} · ${id.slice(-6)}`;
}

function describe(placement: Placement): string {
  const { sweep } = placement;
  const ends = [sweep[0], sweep.at(-1)].flatMap((step) =>
    step === undefined ? [] : [`batches of ${step.rows} ${formatMeasure(step.serviceMs.p50, "ms")}`],
  );
  return `Service by rows of a batch of ${namePlacement(placement)}, median: ${[...new Set(ends)].join(", ")}`;
}
