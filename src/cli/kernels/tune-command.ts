import { Command } from "commander";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { tuning } from "../../words/kinds/tuning.ts";
import { openEdge } from "../options/edge-options.ts";
import { addJob, type JobOptions, submitJob, targetOf } from "../jobs/submit-job.ts";
import { findKernel } from "./find-kernel.ts";
import { shapeOption, wholeBetween } from "../options/option-values.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";

interface TuneOptions extends JobOptions {
  readonly shape: Readonly<Record<string, number>>;
  readonly time?: number;
  readonly fresh: boolean;
}

/** `millrace tune`: searches a kernel's variants and axes for what is fastest on a runner. */
export function tuneCommand(shell: Shell = PROCESS): Command {
  return addJob(new Command("tune"))
    .description("Search a kernel's variants and axes for what is fastest on a runner")
    .argument("<kernel>", "name of an announced kernel")
    .option("--shape <sizes>", "such as n=1000000,m=64 (default: the kernel's)", shapeOption, {})
    .option(
      "--time <ms>",
      "that the search may take (default: 30000)",
      wholeBetween(LIMITS.minTuningBudgetMs, LIMITS.maxTuningBudgetMs),
    )
    .option("--fresh", "search again where the answer is known", false)
    .action(async (wanted: string, options: TuneOptions) => {
      const { shape, time, fresh } = options;
      const client = await openEdge(options, shell);
      const body = {
        kind: tuning.kind,
        ...(await findKernel(client, wanted)),
        shape,
        fresh,
        ...(time !== undefined && { budgetMs: time }),
        ...(await targetOf(client, options)),
      } as const;
      shell.exit(await submitJob(client, body, options, shell));
    });
}
