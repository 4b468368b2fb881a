import { Command } from "commander";
import type { ComparisonReply } from "../../protocol/history/comparison.ts";
import { formatP, PAIR_VERDICTS, UNPAIRED } from "../../words/comparison.ts";
import { formatChange, formatSide } from "./render-check.ts";
import { namePairs } from "./judge-pairs.ts";
import { renderTable } from "../render/render-table.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { addSelection, askComparison, type SelectionOptions } from "../options/selection-options.ts";

/** `millrace compare A B`: how B differs from A, series by series. */
export function compareCommand(shell: Shell = PROCESS): Command {
  return addSelection(new Command("compare"))
    .description("Compare two parts of the history, such as label:main and run:run_…, series by series")
    .argument(
      "<A>",
      "run:, label:, window:<from>/<to>, device:, series:, baseline:, revision: or last:, with ; between",
    )
    .argument("<B>", "the same, of what is judged")
    .action(async (a: string, b: string, options: SelectionOptions) => {
      const comparison = await askComparison(options, { a, b }, shell);
      shell.print(options.json ? `${JSON.stringify(comparison)}\n` : renderComparison(comparison, shell.columns));
    });
}

function renderComparison(comparison: ComparisonReply, columns: number | undefined): string {
  const { pairs, unpaired, notes } = comparison;
  const names = namePairs(pairs);
  const rows = pairs.map((pair, index) => [
    PAIR_VERDICTS[pair.verdict][1],
    names[index] ?? "",
    formatSide(pair.a, pair.key.unit),
    formatSide(pair.b, pair.key.unit),
    formatChange(pair),
    formatP(pair.adjustedP),
    pair.effect ?? "–",
  ]);
  const table = renderTable([["", "series", "A", "B", "change", "p", "effect"], ...rows], columns);
  const alone = unpaired.map(({ side, key, reason }) => {
    const [name = ""] = namePairs([{ key }]);
    return `Only ${side.toUpperCase()} (${UNPAIRED[reason]}): ${name}${key.label === null ? "" : ` ${key.label}`}`;
  });
  const warnings = pairs.flatMap((pair, index) => pair.warnings.map((warning) => `${names[index]}: ${warning}`));
  return `${table}\n${[...alone, ...warnings, ...notes].map((line) => `${line}\n`).join("")}`;
}
