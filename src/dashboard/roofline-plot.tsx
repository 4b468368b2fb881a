import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Device } from "../protocol/hardware.ts";
import type { RooflinePosition } from "../protocol/roofline.ts";
import { formatMeasure, formatNumber } from "./format.ts";
import { drawRoofline, type RooflineCurve } from "./roofline-curve.ts";
import { Timestamp } from "./timestamp.tsx";
import { useColourScheme } from "./use-colour-scheme.ts";

interface RooflinePlotProps {
  readonly device: Device;
  readonly positions: readonly RooflinePosition[];
}

/** A device's roofs behind a line that names them: drawn once it is opened, with the latest benchmarks below. */
export function RooflinePlot({ device, positions }: RooflinePlotProps) {
  const curve = device.roofline && drawRoofline(device.roofline, positions);
  if (device.roofline === null || curve === null) return null;
  const { peakGflops, peakGigabytesPerSecond, rates } = curve;
  const peaks = `${formatMeasure(peakGflops, "GFLOP/s")}, ${formatMeasure(peakGigabytesPerSecond, "GB/s")}`;
  const shown = rates.filter((rate) => rate !== null).length;
  return (
    <details class="roofline">
      <summary>{`Roofs ${peaks}`}</summary>
      <RooflineCanvas
        curve={curve}
        label={`Roofline of ${device.name} in f32: ${peaks}; ${shown} of the latest benchmarks`}
      />
      <small>
        f32, measured <Timestamp at={device.roofline.measuredAt} /> by kernels of our own; points are the latest
        benchmarks
      </small>
    </details>
  );
}

/** Both axes are logarithmic, so that the roof is two straight lines. */
function RooflineCanvas({ curve, label }: { curve: RooflineCurve; label: string }) {
  const scheme = useColourScheme();
  const frame = useRef<HTMLDivElement>(null);
  const { intensities, roof, rates } = curve;
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    let drawn: uPlot | null = null;
    // Closed, it has no size; it is drawn when it gets one, and anew with another.
    const observer = new ResizeObserver(() => {
      drawn?.destroy();
      drawn = null;
      if (element.clientWidth > 0) {
        drawn = new uPlot(rooflineOptions(element), [[...intensities], [...roof], [...rates]], element);
      }
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawn?.destroy();
    };
  }, [scheme, JSON.stringify([intensities, roof, rates])]);
  return <div ref={frame} class="roofline-frame" role="img" aria-label={label} />;
}

const MARK_PX = 8;

/** The powers of ten: the steps between them would crowd. */
const keepDecades: uPlot.Axis.Filter = (_, splits) =>
  splits.map((split) => (Number.isInteger(Math.log10(split)) ? split : null));

function rooflineOptions(element: HTMLElement): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const font = `12px ${style.fontFamily}`;
  const axis = (label: string): uPlot.Axis => ({
    label,
    font,
    labelFont: font,
    labelSize: 18,
    stroke: colour("muted"),
    grid: { stroke: colour("line"), width: 1, filter: keepDecades },
    ticks: { stroke: colour("line"), width: 1, size: 4, filter: keepDecades },
    filter: keepDecades,
    values: (_, splits) => splits.map((split) => (split === null ? null : formatNumber(split))),
  });
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false, distr: 3 }, y: { distr: 3 } },
    axes: [
      { ...axis("operations per byte"), size: 30 },
      { ...axis("GFLOP/s"), size: 52 },
    ],
    series: [
      {},
      { stroke: colour("p50"), width: 2, points: { show: false } },
      { stroke: colour("p99"), paths: () => null, points: { show: true, size: MARK_PX, fill: colour("p99") } },
    ],
  };
}
