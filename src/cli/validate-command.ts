import { Command, InvalidArgumentError } from "commander";
import { LIMITS } from "../protocol/limits.ts";
import { ProblemError } from "../protocol/problem.ts";
import type { Requirement } from "../protocol/requirement.ts";
import { LoadPath, type Scenario, ScenarioInput } from "../protocol/scenario.ts";
import { openEdge } from "./edge-options.ts";
import { addJob, type JobOptions, targetOf } from "./jobs/job-options.ts";
import { submitJob } from "./jobs/submit-job.ts";
import { collect } from "./options/collect-option.ts";
import { wholeBetween } from "./options/number-option.ts";
import { PROCESS, type Shell } from "./shell.ts";
import { parseRequirement } from "./validate/parse-requirement.ts";
import { parseScenario } from "./validate/parse-scenario.ts";

interface ValidateOptions extends JobOptions {
  readonly scenario?: readonly Scenario[];
  readonly require?: readonly Requirement[];
  readonly requirements?: string;
  readonly variant?: string;
  readonly device?: string;
  readonly path?: readonly LoadPath[];
  readonly timeout: number;
}

/** `millrace validate`: a model under load, judged; 1 where a requirement is missed, 3 where that cannot be told. */
export function validateCommand(shell: Shell = PROCESS): Command {
  return addJob(new Command("validate"))
    .description("Validate a model under load: exit 1 where a requirement is missed, 3 where evidence does not suffice")
    .argument("<model>", "model or policy; `name@2` names a version")
    .option(
      "--scenario <kind>",
      "singleStream (default), multiStream, server:boundMs=10 or offline; again for more",
      collect(parseScenario),
    )
    .option("--require <requirement>", 'such as "latencyMs p99 <= 10"; again for more', collect(parseRequirement))
    .option("--requirements <set>", "name of a requirement set")
    .option("--variant <name>", "of the model (default: as requests get it)")
    .option("--device <key>", "of the runner, such as cpu")
    .option("--path <path>", "runner (default) or edge; again for both", collect(loadPath))
    .option("--timeout <ms>", "time that it may take", wholeBetween(1_000, LIMITS.validationMs), 300_000)
    .action(async (model: string, options: ValidateOptions) => shell.exit(await validate(model, options, shell)));
}

async function validate(model: string, options: ValidateOptions, shell: Shell): Promise<number> {
  const {
    scenario = [ScenarioInput.parse({ kind: "singleStream" })],
    require = [],
    requirements,
    variant,
    device,
    path,
    timeout,
  } = options;
  if (requirements !== undefined && require.length > 0) {
    throw new ProblemError("invalid-request", "Give --require or --requirements, and not both.");
  }
  const client = await openEdge(options, shell);
  const body = {
    kind: "validation",
    subject: { kind: "model", model, ...(variant !== undefined && { variant }) },
    scenarios: [...scenario],
    requirements: requirements ?? [...require],
    timeoutMs: timeout,
    ...(path !== undefined && { paths: [...path] }),
    ...(device !== undefined && { deviceKey: device }),
    ...(await targetOf(client, options)),
  } as const;
  return submitJob(client, body, options, shell);
}

function loadPath(text: string): LoadPath {
  const path = LoadPath.safeParse(text);
  if (path.success) return path.data;
  throw new InvalidArgumentError("must be runner or edge.");
}
