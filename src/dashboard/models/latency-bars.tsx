import type { InferReply } from "../../protocol/inference/inference.ts";
import { formatMeasure, formatShare } from "../../words/numbers.ts";
import { type LatencyPart, splitLatency, splitPrediction } from "../../words/models.ts";
import { DataTable } from "../ui/data-table.tsx";

const WIDTH = 1_000;
const HEIGHT = 26;

/** The edge's clock has whole milliseconds. */
const CLOCKS = { edge: "edge, whole ms", runner: "runner" } as const;

/** Parts of a reply's latency beside the predicted ones, on one scale. */
export function LatencyBars({ reply }: { readonly reply: Pick<InferReply, "latency" | "prediction" | "placement"> }) {
  const { latency, prediction, placement } = reply;
  const measured = splitLatency(latency, placement.backend);
  const predicted = splitPrediction(prediction);
  const longestMs = Math.max(sumOf(measured), sumOf(predicted), 1e-9);
  return (
    <figure class="split">
      <Bar name="Measured" parts={measured} longestMs={longestMs} />
      <Bar name="Predicted" parts={predicted} longestMs={longestMs} />
      <p class="muted">{`Predicted: ${tellParts(predicted)}. The service is upload, compute and readback together.`}</p>
      <DataTable
        class="points"
        caption="Where the time went"
        rows={measured}
        keyOf={({ name }) => name}
        columns={[
          {
            name: "Part",
            cell: ({ name }) => (
              <>
                <i class={`part-key ${name}`} /> {name}
              </>
            ),
          },
          { name: "Time", cell: ({ ms }) => formatMeasure(ms, "ms") },
          { name: "Share", cell: ({ ms }) => (latency.totalMs > 0 ? formatShare(ms / latency.totalMs) : "–") },
          { name: "Clock", cell: ({ clock }) => (clock === null ? "–" : CLOCKS[clock]) },
        ]}
      />
    </figure>
  );
}

interface BarProps {
  readonly name: string;
  readonly parts: readonly LatencyPart[];
  readonly longestMs: number;
}

function Bar({ name, parts, longestMs }: BarProps) {
  let left = 0;
  return (
    <div class="split-bar">
      <span>
        {name} <b>{formatMeasure(sumOf(parts), "ms")}</b>
      </span>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name}: ${tellParts(parts)}`}
      >
        {parts.map((part) => {
          const width = (part.ms / longestMs) * WIDTH;
          left += width;
          return (
            <rect key={part.name} class={part.name} x={left - width} y={0} width={width} height={HEIGHT}>
              <title>{`${part.name} ${formatMeasure(part.ms, "ms")}`}</title>
            </rect>
          );
        })}
      </svg>
    </div>
  );
}

function tellParts(parts: readonly LatencyPart[]): string {
  return parts.map(({ name, ms }) => `${name} ${formatMeasure(ms, "ms")}`).join(", ");
}

function sumOf(parts: readonly LatencyPart[]): number {
  return parts.reduce((sum, { ms }) => sum + ms, 0);
}
