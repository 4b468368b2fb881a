import { Command } from "commander";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { optimisation } from "../../words/kinds/optimisation.ts";
import { openEdge } from "../options/edge-options.ts";
import { addJob, type JobOptions, submitJob, targetOf } from "./submit-job.ts";
import { bytesOption, numberBetween, percentileOption, wholeBetween } from "../options/option-values.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";

interface OptimiseOptions extends JobOptions {
  readonly latency?: number;
  readonly percentile?: number;
  readonly throughput?: number;
  readonly memory?: number;
  readonly leastFidelity?: number;
  readonly time?: number;
  readonly apply: boolean;
}

/** `millrace optimise`: searches how a model is served best within targets; 1 where nothing reaches them. */
export function optimiseCommand(shell: Shell = PROCESS): Command {
  return addJob(new Command("optimise"))
    .description("Search how a model is served best within targets: exit 1 where nothing reaches them all")
    .argument("<model>", "model or policy; `name@2` names a version")
    .option("--latency <ms>", "at most, at the percentile", numberBetween(1e-6, LIMITS.maxBudgetMs))
    .option("--percentile <p>", "of the latency (default: p99)", percentileOption)
    .option("--throughput <n>", "rows a second, at least", numberBetween(1e-6, 1e9))
    .option("--memory <bytes>", "at most, such as 200MiB", bytesOption)
    .option("--least-fidelity <f>", "0 to 1, where the model's own file has 1", numberBetween(0, 1))
    .option("--time <ms>", "that the search may take (default: 60000)", wholeBetween(1_000, LIMITS.optimisationMs))
    .option("--apply", "serve by the best one, if validations bear it out", false)
    .action(async (model: string, options: OptimiseOptions) => {
      const client = await openEdge(options, shell);
      const targets = targetsOf(options);
      const body = {
        kind: optimisation.kind,
        subject: { kind: "model", model },
        targets,
        // Without anything to reach the edge wants to hear what is best.
        ...(Object.keys(targets).length === 0 && { objective: "throughput" as const }),
        apply: options.apply,
        ...(options.time !== undefined && { budgetMs: options.time }),
        ...(await targetOf(client, options)),
      } as const;
      shell.exit(await submitJob(client, body, options, shell));
    });
}

function targetsOf({ latency, percentile, throughput, memory, leastFidelity }: OptimiseOptions) {
  return {
    ...(latency !== undefined && { latencyMs: latency }),
    ...(percentile !== undefined && { percentile }),
    ...(throughput !== undefined && { throughputPerS: throughput }),
    ...(memory !== undefined && { memoryBytes: memory }),
    ...(leastFidelity !== undefined && { minFidelity: leastFidelity }),
  };
}
