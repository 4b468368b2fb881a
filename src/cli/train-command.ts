import { Command, Option } from "commander";
import { LIMITS } from "../protocol/limits.ts";
import type { Algorithm } from "../protocol/training.ts";
import { openEdge } from "./edge-options.ts";
import { addJob, type JobOptions, targetOf } from "./jobs/job-options.ts";
import { submitJob } from "./jobs/submit-job.ts";
import { numberBetween, wholeBetween } from "./options/number-option.ts";
import { PROCESS, type Shell } from "./shell.ts";

const ALGORITHMS = [
  "sep-cma-es",
  "openes",
  "pgpe",
  "genetic",
  "species",
  "map-elites",
  "cma-me",
] as const satisfies Algorithm["name"][];
const LARGEST_RETURN = 1e9;

interface TrainOptions extends JobOptions {
  readonly algorithm: (typeof ALGORITHMS)[number];
  readonly population?: number;
  readonly generations?: number;
  readonly episodes?: number;
  readonly stopAt?: number;
  readonly publish?: string;
  readonly seed?: number;
}

/** `millrace train`: trains a policy by evolution; 1 where it does not reach --stop-at. */
export function trainCommand(shell: Shell = PROCESS): Command {
  return addJob(new Command("train"))
    .description("Train a policy in an environment by evolution: exit 1 where it does not reach --stop-at")
    .argument("<environment>", "such as cartpole")
    .addOption(
      new Option("--algorithm <name>", "how the population is moved").choices(ALGORITHMS).default("sep-cma-es"),
    )
    .option("--population <n>", "members (default: the algorithm's)", wholeBetween(2, LIMITS.populationMembers))
    .option("--generations <n>", "at most (default: 100)", wholeBetween(1, LIMITS.trainingGenerations))
    .option("--episodes <n>", "of each member in a generation (default: 16)", wholeBetween(1, 1_024))
    .option(
      "--stop-at <return>",
      "mean return on fresh episodes that ends it",
      numberBetween(-LARGEST_RETURN, LARGEST_RETURN),
    )
    .option("--publish <model>", "the best policy becomes a version of this model")
    .option("--seed <number>", "of the training (default: 1)", wholeBetween(0, 2 ** 32 - 1))
    .action(async (environment: string, options: TrainOptions) => {
      const { algorithm, population, generations, episodes, stopAt, publish, seed } = options;
      const client = await openEdge(options, shell);
      const body = {
        kind: "training",
        environment,
        algorithm: { name: algorithm, ...(population !== undefined && { population }) },
        ...(generations !== undefined && { generations }),
        ...(episodes !== undefined && { episodes }),
        ...(stopAt !== undefined && { stopAt }),
        ...(publish !== undefined && { publish: { model: publish } }),
        ...(seed !== undefined && { seed }),
        ...(await targetOf(client, options)),
      } as const;
      shell.exit(await submitJob(client, body, options, shell));
    });
}
