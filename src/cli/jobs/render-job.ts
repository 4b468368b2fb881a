import type { Job } from "../../protocol/jobs/job.ts";
import { describeDuration, describeProgress, JOB_STATES, type JobNames } from "../../words/jobs.ts";
import type { ResultTable, Value } from "../../words/kinds/kind.ts";
import { describeResult, describeSpec, nameSpec } from "../../words/kinds/registry.ts";
import { formatAge, formatValue, TERMINAL } from "../render/format-values.ts";
import { renderBar } from "../render/progress-line.ts";
import { paint, renderFacts, renderTable } from "../render/render-table.ts";
import { distributionLine, sparkline, thinOut } from "../render/sparkline.ts";
import type { Canvas } from "../shell/shell.ts";

/** A job for people: how far it is, or what it came to. */
export function renderJob(job: Job, names: JobNames, canvas: Canvas): string {
  const { id, state, spec, attempt, maxAttempts, runnerId, progress, problem, createdAt } = job;
  const [tone, word] = JOB_STATES[state];
  const facts = renderFacts([
    ["job", `${id}: ${spec.kind} of ${nameSpec(spec, names)}`],
    ["asked for", describeSpec(spec, TERMINAL)],
    ["state", `${paint(canvas, tone, word)}, attempt ${attempt} of ${maxAttempts}, queued ${formatAge(createdAt)}`],
    ...(runnerId === null ? [] : [["runner", names.runners.get(runnerId) ?? runnerId] as const]),
    ...(progress === null || state !== "leased" ? [] : [["progress", describeProgress(progress, TERMINAL)] as const]),
    ...(problem === null ? [] : [["problem", `${problem.title}: ${problem.detail}`] as const]),
  ]);
  return job.result === null ? facts : `${facts}${renderResult(job, canvas)}`;
}

/** A job that ended well, for people: its result, and where it stays. */
export function renderResult(job: Job, canvas: Canvas): string {
  const { id, runId, result } = job;
  if (result === null) return `${id} left no result.\n`;
  const { table, facts } = describeResult(result, TERMINAL);
  const run = [runId ?? "none", id, describeDuration(job, Date.now())].join(" · ");
  const lines = facts.map(([name, value]) => [name, renderValue(value, canvas)] as const);
  return `${table === undefined ? "" : renderResultTable(table, canvas)}${renderFacts([...lines, ["run", run]])}`;
}

const COURSE_COLUMNS = 40;
const PROFILE_COLUMNS = 16;
const SHARE_COLUMNS = 20;

function renderValue(value: Value, canvas: Canvas): string {
  if (typeof value === "string") return value;
  if ("distribution" in value) return distributionLine(value.distribution, value.unit);
  if ("share" in value) return `▕${renderBar(value.share, SHARE_COLUMNS)}▏ ${value.text}`;
  if ("course" in value) {
    const ends = [value.course[0], value.course.at(-1)].map((end) => (end === undefined ? "" : formatValue(end)));
    return ends.join(` ${sparkline(thinOut(value.course, COURSE_COLUMNS))} `);
  }
  const word = paint(canvas, value.tone, value.word.toUpperCase());
  return value.detail === undefined ? word : `${word}: ${value.detail}`;
}

function renderResultTable({ columns, rows }: ResultTable, canvas: Canvas): string {
  const plain = { ...canvas, colour: false };
  const texts = rows.map((cells) =>
    cells.map((cell) =>
      typeof cell === "object" && "course" in cell
        ? sparkline(thinOut(cell.course, PROFILE_COLUMNS))
        : renderValue(cell, plain),
    ),
  );
  // Colours are put on once each cell has its width.
  return renderTable([columns, ...texts], canvas.columns, (text, row, column) => {
    const cell = row === 0 ? undefined : rows[row - 1]?.[column];
    return typeof cell === "object" && "tone" in cell ? paint(canvas, cell.tone, text) : text;
  });
}
