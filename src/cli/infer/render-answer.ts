import type { InferReply, LatencySplit } from "../../protocol/inference/inference.ts";
import type { JsonTensor } from "../../protocol/wire/tensor.ts";
import { namePlace, WAY } from "../../words/models.ts";
import { formatShare } from "../../words/numbers.ts";
import { formatWith, formatValue } from "../render/format-values.ts";
import { renderBar } from "../render/progress-line.ts";
import { renderFacts } from "../render/render-table.ts";

const LATENCY_COLUMNS = 40;

/** Parts of the latency: each bar begins at the end of the previous one, so that they fill the whole. */
export function latencyBars(latency: LatencySplit): [name: string, value: string][] {
  const sum = WAY.reduce((total, { field }) => total + latency[field], 0);
  let before = 0;
  return WAY.map(({ name, field }) => {
    const ms = latency[field];
    const [from, to] = [before, before + ms].map((at) => (sum > 0 ? Math.round((LATENCY_COLUMNS * at) / sum) : 0));
    before += ms;
    // A part that took any time is seen.
    const length = Math.max((to ?? 0) - (from ?? 0), ms > 0 ? 1 : 0);
    const start = Math.min(from ?? 0, LATENCY_COLUMNS - length);
    const bar = `${"·".repeat(start)}${"█".repeat(length)}`.padEnd(LATENCY_COLUMNS, "·");
    return [name, `${bar}  ${formatWith(ms, "ms")}`];
  });
}

const SHARE_COLUMNS = 24;
/** Rows of one output that are shown. */
const ROWS = 8;

/** Answer of a model: the largest outputs of each row, the place, and the parts of its latency. */
export function renderAnswer(reply: InferReply, top: number): string {
  const { model, version, placement, latency, budgetMs, budgetMet, prediction, passedOver, outputs } = reply;
  const shown = Object.entries(outputs).map(([name, tensor]) => renderOutput(name, tensor, top));
  const { variant, batch, fidelity } = placement;
  const met = budgetMet ? "met" : "MISSED";
  const facts = renderFacts([
    ["model", `${model}@${version} ${variant}, fidelity ${formatShare(fidelity)}`],
    ["ran on", `${namePlace(placement)}, in a batch of ${batch}`],
    [
      "latency",
      `${formatWith(latency.totalMs, "ms")} of ${formatWith(budgetMs, "ms")}: ${met}; predicted ${formatWith(prediction.latencyMs, "ms")}`,
    ],
    ...latencyBars(latency),
    ...(passedOver === undefined
      ? []
      : [["passed over", `${passedOver.variant}: ${formatWith(passedOver.latencyMs, "ms")} predicted`] as const]),
  ]);
  return `${shown.join("")}${facts}`;
}

function renderOutput(name: string, { dtype, shape = [], data }: JsonTensor, top: number): string {
  const width = shape.length > 1 ? (shape.at(-1) ?? 1) : data.length;
  const values = data.map(Number);
  const rows = Math.min(ROWS, width === 0 ? 0 : Math.ceil(values.length / width));
  const more = width > 0 && values.length > rows * width ? `, the first ${rows} rows` : "";
  const lines = Array.from({ length: rows }, (_, row) => renderRow(values.slice(row * width, (row + 1) * width), top));
  return `${name} ${dtype} [${shape.join(", ")}]${more}\n${lines.join(rows > 1 ? "\n" : "")}`;
}

/** The largest values with their places, longest bar first. */
function renderRow(values: readonly number[], top: number): string {
  const ranked = values.map((value, index) => ({ value, index })).toSorted((one, other) => other.value - one.value);
  const [first, last] = [ranked[0]?.value ?? 0, ranked.at(-1)?.value ?? 0];
  const share = (value: number) => (first > last ? (value - last) / (first - last) : 1);
  const facts = ranked.slice(0, top).map(({ value, index }) => {
    const figure = formatValue(value).replace("-", "−");
    return [
      String(index).padStart(3),
      `${figure.padStart(10)}  ${renderBar(share(value), SHARE_COLUMNS)}`.trimEnd(),
    ] as const;
  });
  return renderFacts(facts);
}
