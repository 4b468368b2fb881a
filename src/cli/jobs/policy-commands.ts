import { Command, Option } from "commander";
import type { Algorithm } from "../../protocol/jobs/training.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { evaluation } from "../../words/kinds/evaluation.ts";
import { training } from "../../words/kinds/training.ts";
import { openEdge } from "../options/edge-options.ts";
import { numberBetween, wholeBetween } from "../options/option-values.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { addJob, type JobOptions, submitJob, targetOf } from "./submit-job.ts";

/** GPUs that share a job: `all`, or keys with commas between them. */
interface SharingOptions {
  readonly devices?: string;
}

function addSharing(command: Command): Command {
  return command.option("--devices <keys>", "GPUs of the runner that share the members: gpu0,gpu1 or all");
}

function sharersOf({ devices }: SharingOptions): { readonly devices?: "all" | string[] } {
  if (devices === undefined) return {};
  return { devices: devices === "all" ? devices : devices.split(",").map((key) => key.trim()) };
}

interface EvaluateOptions extends JobOptions, SharingOptions {
  readonly environment: string;
  readonly episodes?: number;
  readonly seed?: number;
}

/** `millrace evaluate`: rolls policies out in an environment, all on the same draws, and says how they did. */
export function evaluateCommand(shell: Shell = PROCESS): Command {
  return addSharing(addJob(new Command("evaluate")))
    .description("Roll policies out in an environment and say how they did")
    .argument("<policy...>", "models or policies; `name@2` names a version")
    .requiredOption("--environment <name>", "such as cartpole")
    .option("--episodes <n>", "of each policy (default: 100)", wholeBetween(0, LIMITS.memberEpisodes))
    .option("--seed <number>", "of the episodes (default: 1)", wholeBetween(0, 2 ** 32 - 1))
    .action(async (policies: string[], options: EvaluateOptions) => {
      const { environment, episodes, seed } = options;
      const client = await openEdge(options, shell);
      const body = {
        kind: evaluation.kind,
        policies,
        environment,
        ...(episodes !== undefined && { episodes }),
        ...(seed !== undefined && { seed }),
        ...sharersOf(options),
        ...(await targetOf(client, options)),
      } as const;
      shell.exit(await submitJob(client, body, options, shell));
    });
}

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

interface TrainOptions extends JobOptions, SharingOptions {
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
  return addSharing(addJob(new Command("train")))
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
        kind: training.kind,
        environment,
        algorithm: { name: algorithm, ...(population !== undefined && { population }) },
        ...(generations !== undefined && { generations }),
        ...(episodes !== undefined && { episodes }),
        ...(stopAt !== undefined && { stopAt }),
        ...(publish !== undefined && { publish: { model: publish } }),
        ...(seed !== undefined && { seed }),
        ...sharersOf(options),
        ...(await targetOf(client, options)),
      } as const;
      shell.exit(await submitJob(client, body, options, shell));
    });
}
