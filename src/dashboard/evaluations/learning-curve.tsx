import { useCallback, useMemo, useState } from "preact/hooks";
import type uPlot from "uplot";
import type { CurvePoint } from "../../protocol/jobs/training.ts";
import { formatNumber } from "../../words/numbers.ts";
import { usePlot } from "../plots/use-plot.ts";
import { learningOptions } from "./learning-options.ts";
import { DataTable } from "../ui/data-table.tsx";
import { Picker } from "../ui/forms/picker.tsx";

const TABLE_ROWS = 12;
/** Choices for the x axis of a learning curve. */
const ALONG = { generation: "generations", steps: "steps" } as const;
export type Along = keyof typeof ALONG;
const ALONG_OPTIONS = Object.entries(ALONG) as [Along, string][];

interface LearningCurveProps {
  readonly environment: string;
  readonly curve: readonly CurvePoint[];
  /** Return that ends the training. */
  readonly target: number | undefined;
}

/** Returns over a training: members, best member, and the policy on fresh episodes with its interval of 95 %. */
export function LearningCurve({ environment, curve, target }: LearningCurveProps) {
  const [along, setAlong] = useState<Along>("generation");
  const [hovered, setHovered] = useState<number | null>(null);
  const data = useMemo(() => toColumns(curve, along), [curve, along]);
  const createOptions = useCallback(
    (element: HTMLElement) => learningOptions(element, { along: ALONG[along], target }, setHovered),
    [along, target],
  );
  const frame = usePlot(createOptions, data);
  const judged = curve.filter(({ fresh }) => fresh !== null);
  const point = curve[hovered ?? curve.length - 1] ?? curve.at(-1);
  const fresh = judged.findLast(({ generation }) => generation <= (point?.generation ?? 0));
  return (
    <figure>
      <div class="plot-head">
        <div class="readout">
          <Reading swatch="p50" name="fresh episodes" value={tellFresh(fresh)} />
          <Reading swatch="p95" name="best member" value={point === undefined ? "–" : formatNumber(point.best)} />
          <Reading swatch="p99" name="mean member" value={point === undefined ? "–" : formatNumber(point.mean)} />
          <span class="muted">
            {point === undefined
              ? "no generation yet"
              : `generation ${formatNumber(point.generation)}, ${formatNumber(point.steps)} steps`}
          </span>
        </div>
        <Picker label="Along" class="pick" value={along} options={ALONG_OPTIONS} onPick={setAlong} />
      </div>
      <div class="plot">
        <div
          ref={frame}
          class="plot-frame"
          role="img"
          aria-label={`Returns of a training in ${environment} over ${curve.length} points; the latest on fresh episodes ${tellFresh(judged.at(-1))}`}
        />
      </div>
      <details>
        <summary>Latest judgements as a table</summary>
        <DataTable
          class="points"
          rows={judged.slice(-TABLE_ROWS).toReversed()}
          keyOf={(each) => each.generation}
          columns={[
            { name: "Generation", cell: (each) => formatNumber(each.generation) },
            { name: "Steps", cell: (each) => formatNumber(each.steps) },
            { name: "Fresh episodes", cell: (each) => tellFresh(each) },
            { name: "Best member", cell: (each) => formatNumber(each.best) },
            { name: "Mean member", cell: (each) => formatNumber(each.mean) },
          ]}
        />
      </details>
    </figure>
  );
}

function Reading({ swatch, name, value }: { swatch: string; name: string; value: string }) {
  return (
    <span>
      <i class={`swatch ${swatch}`} /> {name} <b>{value}</b>
    </span>
  );
}

function tellFresh(point: CurvePoint | undefined): string {
  if (point === undefined || point.fresh === null) return "–";
  const { fresh, freshInterval } = point;
  const range = freshInterval && ` [${formatNumber(freshInterval.low)}, ${formatNumber(freshInterval.high)}]`;
  return `${formatNumber(fresh)}${range ?? ""}`;
}

/** Columns in the order of the options' series. */
function toColumns(curve: readonly CurvePoint[], along: Along): uPlot.AlignedData {
  const column = (of: (point: CurvePoint) => number | null | undefined) => curve.map((point) => of(point) ?? null);
  return [
    curve.map((point) => point[along]),
    column(({ mean }) => mean),
    column(({ best }) => best),
    column(({ freshInterval }) => freshInterval?.low),
    column(({ freshInterval }) => freshInterval?.high),
    column(({ fresh }) => fresh),
  ];
}
