import { Command } from "commander";
import type { Client } from "../../client/client.ts";
import { listAll } from "../../client/list-all.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
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
  readonly model: boolean;
  readonly variant?: string;
}

/** A kernel where there is one of that name, else a model. Fails with `unknown-kernel` where it is neither. */
async function findSubject(client: Client, wanted: string, isModel: boolean) {
  if (isModel || wanted.includes("@")) return { model: wanted };
  try {
    return await findKernel(client, wanted);
  } catch (error) {
    if (!(error instanceof ProblemError) || error.problem.code !== "unknown-kernel") throw error;
    const models = await Array.fromAsync(listAll(client, endpoints.listModels, { query: { limit: 200 } }));
    if (models.some(({ name, id }) => name === wanted || id === wanted)) return { model: wanted };
    const where = "`millrace kernels list` and `millrace models list` have those that there are";
    throw new ProblemError("unknown-kernel", `There is no kernel and no model ${wanted}: ${where}.`);
  }
}

/** `millrace tune`: searches a kernel's variants and axes, or a model's layouts, for what is fastest on a runner. */
export function tuneCommand(shell: Shell = PROCESS): Command {
  return addJob(new Command("tune"))
    .description("Search a kernel's variants and axes, or a model's layouts, for what is fastest on a runner")
    .argument("<name>", "an announced kernel, or a model, where `model@2` names a version")
    .option("--model", "a model, though a kernel has the name", false)
    .option("--variant <name>", "of a model: the file to tune (default: the version's own)")
    .option("--shape <sizes>", "such as n=1000000,m=64 (default: the kernel's)", shapeOption, {})
    .option(
      "--time <ms>",
      "that the search may take (default: 30000)",
      wholeBetween(LIMITS.minTuningBudgetMs, LIMITS.maxTuningBudgetMs),
    )
    .option("--fresh", "of a kernel: search again where the answer is known", false)
    .action(async (wanted: string, options: TuneOptions) => {
      const { shape, time, fresh, variant } = options;
      const client = await openEdge(options, shell);
      const body = {
        kind: tuning.kind,
        ...(await findSubject(client, wanted, options.model)),
        ...(variant !== undefined && { variant }),
        shape,
        fresh,
        ...(time !== undefined && { budgetMs: time }),
        ...(await targetOf(client, options)),
      } as const;
      shell.exit(await submitJob(client, body, options, shell));
    });
}
