import { type Command, Option } from "commander";
import { readReply } from "../../client/request-and-reply.ts";
import { type ComparisonReply, Statistic } from "../../protocol/history/comparison.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { addEdge, type EdgeOptions, openEdge } from "./edge-options.ts";
import type { Shell } from "../shell/shell.ts";

/** Selection of the history to compare, in the form of the query. */
export interface SelectionOptions extends EdgeOptions {
  readonly statistic: string;
  readonly confidence: string;
  readonly series?: string;
  readonly subject?: string;
  readonly subjectKind?: string;
  readonly metric?: string;
  readonly unit?: string;
  readonly clock?: string;
  readonly label?: string;
  readonly fingerprint?: string;
  readonly software?: string;
  readonly variant?: string;
  readonly backend?: string;
  readonly batch?: string;
  readonly configuration?: string;
}

/** Adds the address of the edge and the dimensions of series; the edge checks their values. */
export function addSelection(command: Command): Command {
  return addEdge(command, "scope read")
    .option("--series <ids>", "ids of series, with commas between")
    .option("--subject <name>", "what was measured: a kernel, a model, a benchmark")
    .option("--subject-kind <kind>", "kernel, model, policy or benchmark")
    .option("--metric <name>", "such as wallMs")
    .option("--unit <unit>", "of the metric")
    .option("--clock <clock>", "what durations were read from")
    .option("--label <label>", "branch, tag or user")
    .option("--fingerprint <id>", "of the device, fpr_…")
    .option("--software <true|false>", "software devices, or others")
    .option("--variant <name>", "of a kernel or a model")
    .option("--backend <name>", "what executed")
    .option("--batch <rows>", "size of batches")
    .option("--configuration <list>", "further configuration, such as m=256,n=256")
    .addOption(new Option("--statistic <name>", "what of each run").choices(Statistic.options).default("p50"))
    .option("--confidence <share>", "of intervals and tests, between 0.5 and 0.9999", "0.95");
}

/** Asks the edge to compare `b` with `a`. Throws ProblemError with what it refuses. */
export async function askComparison(
  options: SelectionOptions,
  sides: { readonly a: string; readonly b: string },
  shell: Shell,
): Promise<ComparisonReply> {
  const { statistic, confidence, series, subject, subjectKind, metric, unit, clock } = options;
  const { label, fingerprint, software, variant, backend, batch, configuration } = options;
  const selection = { series, subject, subjectKind, metric, unit, clock, label, fingerprint, software };
  const query = { ...sides, statistic, confidence, ...selection, variant, backend, batch, configuration };
  const client = await openEdge(options, shell);
  const reply = await readReply(endpoints.compareSeries, await client.send(endpoints.compareSeries, { query }));
  if (reply === undefined) throw new Error("The edge sent no comparison.");
  return reply;
}
