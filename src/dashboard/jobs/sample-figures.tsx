import { runEndpoints } from "../../protocol/history/run-endpoints.ts";
import type { Client } from "../../client/client.ts";
import type { RunSamples } from "../../protocol/history/run.ts";
import { formatBytes, formatMeasure } from "../../words/numbers.ts";
import { countBins } from "../plots/plot-data.ts";
import { DownloadButton } from "../ui/buttons.tsx";
import type { ReadRun } from "./read-job.ts";

const BINS = 40;
/** Most figures that are drawn; the run's file has the others. */
const FIGURES = 6;
const WIDTH = 400;
const HEIGHT = 90;

interface SampleFiguresProps {
  readonly client: Client;
  readonly run: ReadRun;
  readonly sizeBytes: number;
}

/** Distribution of a run's individual timed values. */
export function SampleFigures({ client, run: { id, samples }, sizeBytes }: SampleFiguresProps) {
  const measurements = samples?.measurements.filter(({ values }) => values.length > 1) ?? [];
  return (
    <>
      <div class="part-head">
        <h3>Raw samples</h3>
        <DownloadButton client={client} endpoint={runEndpoints.getRunSamples} id={id} fileName={`${id}-samples.json`}>
          {`Download samples (${formatBytes(sizeBytes)} compressed)`}
        </DownloadButton>
      </div>
      {samples === null && <p class="muted">They could not be read.</p>}
      <div class="samples">
        {measurements.slice(0, FIGURES).map((measurement, index) => (
          <Histogram key={index} measurement={measurement} />
        ))}
      </div>
      {measurements.length > FIGURES && <p class="muted">{`${measurements.length - FIGURES} more are in the file.`}</p>}
    </>
  );
}

function Histogram({ measurement }: { readonly measurement: RunSamples["measurements"][number] }) {
  const { subject, metric, unit, values } = measurement;
  const bins = countBins(values, BINS);
  const most = bins.reduce((largest, { count }) => Math.max(largest, count), 1);
  const width = WIDTH / bins.length;
  const [low, high] = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 0];
  const range = `${formatMeasure(low, unit)} to ${formatMeasure(high, unit)}`;
  return (
    <figure class="histogram">
      <figcaption>
        {metric} <small>{`of ${subject}: ${values.length} values`}</small>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Spread of ${values.length} values of ${metric}, ${range}; the fullest of ${bins.length} bins holds ${most}`}
      >
        {bins.map(({ from, to, count }, place) => (
          <rect
            key={place}
            x={place * width + 0.5}
            y={HEIGHT * (1 - count / most)}
            width={Math.max(1, width - 1)}
            height={(HEIGHT * count) / most}
          >
            <title>{`${formatMeasure(from, unit)} to ${formatMeasure(to, unit)}: ${count}`}</title>
          </rect>
        ))}
      </svg>
      <div class="histogram-ends">
        <span>{formatMeasure(low, unit)}</span>
        <span>{formatMeasure(high, unit)}</span>
      </div>
    </figure>
  );
}
