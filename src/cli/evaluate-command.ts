import { Command } from "commander";
import { LIMITS } from "../protocol/limits.ts";
import { openEdge } from "./edge-options.ts";
import { addJob, type JobOptions, targetOf } from "./jobs/job-options.ts";
import { submitJob } from "./jobs/submit-job.ts";
import { wholeBetween } from "./options/number-option.ts";
import { PROCESS, type Shell } from "./shell.ts";

interface EvaluateOptions extends JobOptions {
  readonly environment: string;
  readonly episodes?: number;
  readonly seed?: number;
}

/** `millrace evaluate`: rolls policies out in an environment, all on the same draws, and says how they did. */
export function evaluateCommand(shell: Shell = PROCESS): Command {
  return addJob(new Command("evaluate"))
    .description("Roll policies out in an environment and say how they did")
    .argument("<policy...>", "models or policies; `name@2` names a version")
    .requiredOption("--environment <name>", "such as cartpole")
    .option("--episodes <n>", "of each policy (default: 100)", wholeBetween(0, LIMITS.memberEpisodes))
    .option("--seed <number>", "of the episodes (default: 1)", wholeBetween(0, 2 ** 32 - 1))
    .action(async (policies: string[], options: EvaluateOptions) => {
      const { environment, episodes, seed } = options;
      const client = await openEdge(options, shell);
      const body = {
        kind: "evaluation",
        policies,
        environment,
        ...(episodes !== undefined && { episodes }),
        ...(seed !== undefined && { seed }),
        ...(await targetOf(client, options)),
      } as const;
      shell.exit(await submitJob(client, body, options, shell));
    });
}
