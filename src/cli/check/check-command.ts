import { writeFile } from "node:fs/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import type { ComparisonReply } from "../../protocol/history/comparison.ts";
import { formatP } from "../../words/comparison.ts";
import { baselineNote, formatChange, formatSide, renderJunit, renderMarkdown } from "./render-check.ts";
import { exitCodeOf, type Gate, headlineOf, type Judgement, judgePairs } from "./judge-pairs.ts";
import { renderTable } from "../render/render-table.ts";
import { wholeBetween } from "../options/option-values.ts";
import { reportError } from "../shell/report-error.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { addSelection, askComparison, type SelectionOptions } from "../options/selection-options.ts";

interface CheckOptions extends SelectionOptions, Gate {
  readonly baseline: string;
  readonly candidate: string;
  readonly history: number;
  readonly junit?: string;
  readonly markdown?: string;
}

/** `millrace check`: fails where a candidate is certainly worse than a baseline, by more than may be. */
export function checkCommand(shell: Shell = PROCESS): Command {
  return addSelection(new Command("check"))
    .description("Hold the line: exit 1 where the candidate is certainly worse than the baseline, beyond the limit")
    .option("--baseline <side>", "a pinned baseline or a label, or a side such as window:<from>/<to>", "main")
    .option("--candidate <side>", "such as run:run_…, label:my-branch or revision:<commit>", "last:1")
    .option("--history <runs>", "latest runs of the baseline that are compared with", wholeBetween(1, 1_000), 30)
    .addOption(
      new Option("--max-regression <percent>", "how much worse it may be, as measured")
        .argParser(percent)
        .default(0.05, "5%"),
    )
    .option("--require-evidence", "exit 3 where too little was measured to judge", false)
    .option("--allow-unclear", "with --require-evidence: only too few runs are such a lack", false)
    .option("--junit <file>", "write JUnit XML")
    .option("--markdown <file>", "write the Markdown table of a pull request")
    .action(async (options: CheckOptions) => {
      try {
        shell.exit(await check(options, shell));
      } catch (error) {
        reportError(error, shell, options.json);
        // Whatever it was: nothing was judged.
        shell.exit(2);
      }
    });
}

async function check(options: CheckOptions, shell: Shell): Promise<number> {
  const baseline = /^[a-z]+:/.test(options.baseline) ? options.baseline : `baseline:${options.baseline}`;
  const a = /(^|;)last:/.test(baseline) ? baseline : `${baseline};last:${options.history}`;
  const comparison = await askComparison(options, { a, b: options.candidate }, shell);
  const judgements = judgePairs(comparison, options);
  const exitCode = exitCodeOf(judgements, options);
  const markdown = renderMarkdown(comparison, judgements, options);
  if (options.junit !== undefined) await writeFile(options.junit, renderJunit(judgements));
  if (options.markdown !== undefined) await writeFile(options.markdown, markdown);
  if (options.json) shell.print(`${JSON.stringify({ exitCode, ...pick(options), judgements, comparison })}\n`);
  // A pipe is as a rule a pull request's summary.
  else shell.print(shell.columns === undefined ? markdown : renderText(comparison, judgements, options, shell.columns));
  for (const { outcome, name, reason } of judgements) {
    if (outcome === "insufficient") shell.warn(`NOT JUDGED: ${name}: ${reason}\n`);
  }
  if (judgements.length === 0) {
    shell.warn("millrace check: the candidate has no measurements: look at --candidate, --label and the selection\n");
  }
  return exitCode;
}

function pick({ maxRegression, requireEvidence, allowUnclear }: Gate): Gate {
  return { maxRegression, requireEvidence, allowUnclear };
}

function renderText(
  comparison: ComparisonReply,
  judgements: readonly Judgement[],
  gate: Gate,
  columns: number,
): string {
  const rows = judgements.map(({ name, outcome, pair }) => {
    if (pair === null) return [outcome, name, "–", "–", "–", "–"];
    const { a, b, key, adjustedP } = pair;
    return [outcome, name, formatSide(a, key.unit), formatSide(b, key.unit), formatChange(pair), formatP(adjustedP)];
  });
  const table = renderTable([["", "series", "A", "B", "change", "p"], ...rows], columns);
  const notes = [...comparison.notes, baselineNote(comparison)].filter((note) => note !== null);
  return `${table}\n${headlineOf(judgements, gate)}\n${notes.map((note) => `${note}\n`).join("")}`;
}

function percent(text: string): number {
  const [, digits] = /^(\d+(?:\.\d+)?)\s?%$/.exec(text) ?? [];
  if (digits !== undefined && Number(digits) <= 1_000) return Number(digits) / 100;
  throw new InvalidArgumentError("must be a percentage such as 5%.");
}
