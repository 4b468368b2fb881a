import { Command, InvalidArgumentError, Option } from "commander";
import { endpoints } from "../../protocol/endpoints.ts";
import { Step } from "../../protocol/history/history.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { chooseStep, renderHistory, spanMs } from "./render-history.ts";
import { wholeBetween } from "../options/option-values.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";

interface HistoryOptions extends EdgeOptions {
  readonly metric?: string;
  readonly label?: string;
  readonly since: number;
  readonly step?: string;
  readonly limit: number;
}

const WEEK_MS = 7 * 86_400e3;

/** `millrace history`: what was measured over time. */
export function historyCommand(shell: Shell = PROCESS): Command {
  return addEdge(new Command("history"), "scope read")
    .description("What was measured over time: series with their course, a single one as a table")
    .argument("[subject]", "a kernel, or a model such as lenet5@1")
    .option("--metric <name>", "such as wallMs or totalMs")
    .option("--label <label>", "branch, tag or user")
    .addOption(sinceOption())
    .option("--step <step>", "such as 1h (default: by the span)", readStep)
    .option("--limit <n>", "series at most", wholeBetween(1, 200), 40)
    .action((subject: string | undefined, options: HistoryOptions) => showHistory(subject, options, shell));
}

function sinceOption() {
  return new Option("--since <span>", "how far back, such as 12h or 7d")
    .argParser((text) => {
      const span = spanMs(text);
      if (span !== null) return span;
      throw new InvalidArgumentError("must be a span such as 12h or 7d.");
    })
    .default(WEEK_MS, "7d");
}

function readStep(text: string): string {
  if (Step.safeParse(text).success) return text;
  throw new InvalidArgumentError("must be a number and s, m, h or d, such as 1h.");
}

async function showHistory(subject: string | undefined, options: HistoryOptions, shell: Shell): Promise<void> {
  const client = await openEdge(options, shell);
  const { metric, label, since, limit, step = chooseStep(since) } = options;
  const selection = {
    ...(subject !== undefined && { subject }),
    ...(metric !== undefined && { metric }),
    ...(label !== undefined && { label }),
  };
  const nowMs = Date.now();
  const window = { from: new Date(nowMs - since).toISOString(), to: new Date(nowMs + 1).toISOString() };
  const reply = await client.call(endpoints.queryHistory, { query: { ...selection, ...window, step, limit } });
  if (options.json) return shell.print(`${JSON.stringify(reply)}\n`);
  const { items } = await client.call(endpoints.listSeries, { query: { ...selection, limit: 200 } });
  shell.print(renderHistory(reply, new Map(items.map((series) => [series.id, series])), shell.columns));
}
