import { useCallback, useMemo, useState } from "preact/hooks";
import type { Placement, SweepStep } from "../../protocol/model.ts";
import { formatMeasure, formatNumber } from "../format.ts";
import { SoftwareBadge } from "../software-badge.tsx";
import { usePlot } from "../use-plot.ts";
import { calibrationOptions } from "./calibration-options.ts";

interface CalibrationFigureProps {
  readonly placements: readonly Placement[];
  /** Id of the placement that somebody picked. */
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
          <label>
            Placement
            <select value={shown.id} onChange={({ currentTarget: { value } }) => onPick(value)}>
              {placements.map((placement) => (
                <option key={placement.id} value={placement.id}>
                  {namePlacement(placement)}
                </option>
              ))}
            </select>
          </label>
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

/** A logarithmic axis has no place for what the clock was too coarse to tell from nothing. */
function drawable(durationMs: number): number | null {
  return durationMs > 0 ? durationMs : null;
}

function SweepTable({ sweep }: { readonly sweep: readonly SweepStep[] }) {
  return (
    <details>
      <summary>{`All ${sweep.length} batch sizes as a table`}</summary>
      <table class="points">
        <thead>
          <tr>
            <th scope="col">Rows</th>
            <th scope="col">p50 (ms)</th>
            <th scope="col">p99 (ms)</th>
            <th scope="col">Rows/s</th>
            <th scope="col">Timed</th>
          </tr>
        </thead>
        <tbody>
          {sweep.map(({ rows, serviceMs: { p50, p99, count } }) => (
            <tr key={rows}>
              <td>{rows}</td>
              <td>{formatNumber(p50)}</td>
              <td>{formatNumber(p99)}</td>
              <td>{p50 > 0 ? formatNumber((rows / p50) * 1_000) : "–"}</td>
              <td>{formatNumber(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
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
