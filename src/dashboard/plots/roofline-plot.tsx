import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import type { Device } from "../../protocol/fleet/hardware.ts";
import type { RooflinePosition } from "../../protocol/fleet/roofline.ts";
import { formatMeasure, formatNumber } from "../../words/numbers.ts";
import { readPlotTheme } from "./plot-theme.ts";
import { drawRoofline, type RooflineCurve } from "./plot-data.ts";
import { Timestamp } from "../ui/timestamp.tsx";
import { usePlot } from "./use-plot.ts";
import { DataTable } from "../ui/data-table.tsx";

interface RooflinePlotProps {
  readonly device: Device;
  readonly positions: readonly RooflinePosition[];
}

/** A device's f32 roofs with the latest benchmarks below; nothing where they are not measured. */
export function RooflinePlot({ device, positions }: RooflinePlotProps) {
  const curve = device.roofline && drawRoofline(device.roofline, positions);
  if (device.roofline === null || curve === null) return null;
  const { peakGflops, peakGigabytesPerSecond, rates } = curve;
  const peaks = `${formatMeasure(peakGflops, "GFLOP/s")}, ${formatMeasure(peakGigabytesPerSecond, "GB/s")}`;
  const shown = rates.filter((rate) => rate !== null).length;
  return (
    <figure>
      <figcaption>{`Roofs ${peaks}`}</figcaption>
      <RooflineCanvas
        curve={curve}
        label={`Roofline of ${device.name} in f32: ${peaks}; ${shown} of the latest benchmarks`}
      />
      <small>
        f32, measured <Timestamp at={device.roofline.measuredAt} /> by kernels of our own; points are the latest
        benchmarks
      </small>
      {shown > 0 && <PointTable curve={curve} />}
    </figure>
  );
}

function PointTable({ curve: { intensities, roof, rates } }: { curve: RooflineCurve }) {
  const points = intensities.flatMap((intensity, index) => {
    const rate = rates[index] ?? null;
    return rate === null ? [] : [{ intensity, rate, share: rate / (roof[index] ?? rate) }];
  });
  return (
    <details>
      <summary>Benchmarks as a table</summary>
      <DataTable
        class="points"
        rows={points}
        keyOf={({ intensity }) => intensity}
        columns={[
          { name: "Operations per byte", cell: ({ intensity }) => formatNumber(intensity) },
          { name: "GFLOP/s", cell: ({ rate }) => formatNumber(rate) },
          { name: "Of its roof", cell: ({ share }) => `${formatNumber(share * 100)}%` },
        ]}
      />
    </details>
  );
}

function RooflineCanvas({ curve, label }: { curve: RooflineCurve; label: string }) {
  const { intensities, roof, rates } = curve;
  const data = useMemo((): uPlot.AlignedData => [[...intensities], [...roof], [...rates]], [curve]);
  const frame = usePlot(rooflineOptions, data);
  return <div ref={frame} class="roofline-frame" role="img" aria-label={label} />;
}

const MARK_PX = 8;

/** The powers of ten: the steps between them would crowd. */
const keepDecades: uPlot.Axis.Filter = (_, splits) =>
  splits.map((split) => (Number.isInteger(Math.log10(split)) ? split : null));

/** Both axes are logarithmic, so that the roof is two straight lines. */
function rooflineOptions(element: HTMLElement): uPlot.Options {
  const { colour, font, axis, frame } = readPlotTheme(element);
  const decades = (label: string): uPlot.Axis => ({
    ...axis,
    label,
    labelFont: font,
    labelSize: 18,
    grid: { ...axis.grid, filter: keepDecades },
    ticks: { ...axis.ticks, filter: keepDecades },
    filter: keepDecades,
    values: (_, splits) => splits.map((split) => (split === null ? null : formatNumber(split))),
  });
  return {
    ...frame,
    cursor: { show: false },
    scales: { x: { time: false, distr: 3 }, y: { distr: 3 } },
    axes: [
      { ...decades("operations per byte"), size: 30 },
      { ...decades("GFLOP/s"), size: 52 },
    ],
    series: [
      {},
      { stroke: colour("p50"), width: 2, points: { show: false } },
      { stroke: colour("p99"), paths: () => null, points: { show: true, size: MARK_PX, fill: colour("p99") } },
    ],
  };
}
