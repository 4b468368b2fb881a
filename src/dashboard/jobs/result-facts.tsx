import type { ComponentChildren } from "preact";
import type { JobResult } from "../../protocol/jobs/job.ts";
import type { Distribution } from "../../protocol/wire/distribution.ts";
import type { ResultTable, Value } from "../../words/kinds/kind.ts";
import { describeResult } from "../../words/kinds/registry.ts";
import { formatMeasure, formatNumber } from "../../words/numbers.ts";
import { Badge } from "../ui/badges.tsx";
import { DataTable } from "../ui/data-table.tsx";
import { capitalise, FactList } from "../ui/panels.tsx";

/** A result of any kind: its facts, its durations and its table. */
export function ResultFacts({ result }: { readonly result: JobResult }) {
  const { facts, table } = describeResult(result);
  const durations = facts.flatMap(([name, value]) => (isDistribution(value) ? [{ name, ...value }] : []));
  const others = facts.filter(([, value]) => !isDistribution(value));
  return (
    <>
      <dl class="facts">
        <FactList facts={others.map(([name, value]) => [name, <ShownValue key={name} value={value} />])} />
      </dl>
      {durations.length > 0 && <DurationTable rows={durations} />}
      {table !== undefined && <FoundTable table={table} />}
    </>
  );
}

type Measured = Extract<Value, { distribution: unknown }>;

function isDistribution(value: Value): value is Measured {
  return typeof value === "object" && "distribution" in value;
}

const FIGURES = ["count", "min", "p50", "p95", "p99", "max"] as const satisfies readonly (keyof Distribution)[];

function DurationTable({ rows }: { readonly rows: readonly (Measured & { readonly name: string })[] }) {
  const figures = FIGURES.map((name) => ({
    name,
    cell: ({ distribution }: Measured) => formatNumber(distribution[name]),
  }));
  return (
    <DataTable
      class="judgements"
      rows={rows}
      keyOf={(_, index) => index}
      columns={[
        { name: `Duration (${rows[0]?.unit ?? ""})`, head: true, cell: ({ name }) => capitalise(name) },
        ...figures,
      ]}
    />
  );
}

function FoundTable({ table: { caption, columns, rows } }: { readonly table: ResultTable }) {
  return (
    <DataTable<readonly Value[]>
      class="judgements"
      caption={caption}
      rows={rows}
      keyOf={(_, index) => index}
      columns={columns.map((name, place) => ({
        name: capitalise(name),
        head: place === 0,
        cell: (cells) => <ShownValue value={cells[place] ?? "–"} />,
      }))}
    />
  );
}

/** A value as the page shows it. */
function ShownValue({ value }: { readonly value: Value }): ComponentChildren {
  if (typeof value === "string") return value;
  if ("share" in value) return value.text;
  if ("course" in value)
    return value.course.length === 0
      ? "–"
      : `${formatNumber(value.course[0]!)} to ${formatNumber(value.course.at(-1)!)}`;
  if ("distribution" in value) return `p50 ${formatMeasure(value.distribution.p50, value.unit)}`;
  return (
    <>
      <Badge tone={value.tone}>{value.word}</Badge> {value.detail}
    </>
  );
}
