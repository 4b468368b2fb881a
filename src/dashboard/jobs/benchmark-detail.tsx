import type { BenchmarkResult } from "../../protocol/jobs/benchmark.ts";
import type { Distribution } from "../../protocol/wire/distribution.ts";
import type { Device } from "../../protocol/fleet/hardware.ts";
import { describeRoof } from "../../words/kernels.ts";
import { Fact } from "../ui/panels.tsx";
import { describeSizes, formatMeasure, formatNumber } from "../../words/numbers.ts";
import { RooflinePlot } from "../plots/roofline-plot.tsx";
import { SoftwareBadge } from "../ui/badges.tsx";

interface BenchmarkDetailProps {
  readonly result: BenchmarkResult;
  /** Where it ran; null where that is gone. */
  readonly device: Device | null;
}

/** What a benchmark measured: rates, both clocks, and its place under the device's roofs. */
export function BenchmarkDetail({ result, device }: BenchmarkDetailProps) {
  const { variant, axes, tuned, dtype, shape, clock, gflops, gigabytesPerSecond, correctness } = result;
  const { roofline, environment, fallback } = result;
  const axesText = describeSizes(axes);
  return (
    <>
      <dl class="facts">
        <Fact name="Device">
          {environment.deviceName} {environment.software && <SoftwareBadge />}
        </Fact>
        <Fact name="Variant">
          {variant}
          <small>{[axesText, tuned ? "tuned" : ""].filter(Boolean).join(", ")}</small>
        </Fact>
        <Fact name="Shape">{`${describeSizes(shape)}, ${dtype}`}</Fact>
        {gflops !== null && <Fact name="Arithmetic">{formatMeasure(gflops, "GFLOP/s")}</Fact>}
        <Fact name="Bandwidth">{formatMeasure(gigabytesPerSecond, "GB/s")}</Fact>
        <Fact name="Rates by">{clock === "gpu-timestamp" ? "the GPU's clock" : "the runner's clock"}</Fact>
        <Fact name="Largest error">
          {`${formatNumber(correctness.maxRelativeError)} relative`}
          <small>{`${formatNumber(correctness.checkedElements)} elements checked: ${correctness.tolerance}`}</small>
        </Fact>
        {roofline !== null && <Fact name="Roof">{describeRoof(roofline)}</Fact>}
        {fallback !== undefined && <Fact name="Answered by">the reference on the CPU: the device failed</Fact>}
      </dl>
      {roofline !== null && device !== null && <RooflinePlot device={device} positions={[roofline]} />}
      <table class="judgements">
        <thead>
          <tr>
            <th scope="col">Duration (ms)</th>
            {COLUMNS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {result.gpuMs !== null && <DurationRow name="On the GPU" ms={result.gpuMs} />}
          <DurationRow name="Submitted to done" ms={result.wallMs} />
        </tbody>
      </table>
    </>
  );
}

const COLUMNS = ["count", "min", "p50", "p95", "p99", "max"] as const;

function DurationRow({ name, ms }: { readonly name: string; readonly ms: Distribution }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      {COLUMNS.map((column) => (
        <td key={column} data-label={column}>
          {formatNumber(ms[column])}
        </td>
      ))}
    </tr>
  );
}
