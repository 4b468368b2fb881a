import { Command, InvalidArgumentError } from "commander";
import { RequiredMetric, type Requirement } from "../../protocol/models/requirement.ts";
import { LoadPath, type Scenario, ScenarioInput, ScenarioKind } from "../../protocol/models/scenario.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { validation } from "../../words/kinds/validation.ts";
import { openEdge } from "../options/edge-options.ts";
import { collect, percentileOption, wholeBetween } from "../options/option-values.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { addJob, type JobOptions, submitJob, targetOf } from "./submit-job.ts";

const REQUIREMENT =
  /^\s*(?<metric>\w+)(?:\s+(?<percentile>p[\d.]+))?\s*(?<relation><=|>=)\s*(?<bound>\d+(?:\.\d+)?(?:e-?\d+)?)(?:\s+in\s+(?<scenario>\w+))?\s*$/;

/** Reads a requirement: `latencyMs p99 <= 10`, `throughputPerS >= 100 in offline`. */
export function parseRequirement(text: string): Requirement {
  const found = REQUIREMENT.exec(text)?.groups;
  if (found === undefined) throw new InvalidArgumentError('must be such as "latencyMs p99 <= 10".');
  const { percentile, relation, bound, scenario } = found;
  const metric = RequiredMetric.safeParse(found["metric"]);
  if (!metric.success) throw new InvalidArgumentError(`measures one of ${RequiredMetric.options.join(", ")}.`);
  const kind = scenario === undefined ? undefined : ScenarioKind.safeParse(scenario);
  if (kind?.success === false) throw new InvalidArgumentError(`knows ${ScenarioKind.options.join(", ")} as scenarios.`);
  if (percentile !== undefined && metric.data !== "latencyMs") {
    throw new InvalidArgumentError("takes a percentile of latencyMs alone.");
  }
  return {
    metric: metric.data,
    ...(percentile !== undefined && { percentile: percentileOption(percentile) }),
    ...(kind !== undefined && { scenario: kind.data }),
    ...(relation === "<=" ? { atMost: Number(bound) } : { atLeast: Number(bound) }),
  };
}

/** Reads a load: `singleStream`, or with settings `server:boundMs=10,ratePerS=200`. */
export function parseScenario(text: string): Scenario {
  const [kind = "", settings = ""] = text.split(/:(.*)/s);
  const fields = settings === "" ? [] : settings.split(",").map((part) => part.split(/=(.*)/s, 2));
  const scenario = Object.fromEntries(
    fields.map(([name = "", value = ""]) => [name.trim(), Number(value || Number.NaN)]),
  );
  const parsed = ScenarioInput.safeParse({ kind, ...scenario });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.path[0] === "kind") {
    throw new InvalidArgumentError("must be singleStream, multiStream, server:boundMs=10 or offline.");
  }
  const field = issue?.path.join(".") ?? "";
  if (issue?.code === "invalid_type") throw new InvalidArgumentError(`${kind} wants ${field}=<number>.`);
  throw new InvalidArgumentError(`${field === "" ? "" : `${field}: `}${issue?.message ?? "cannot be read"}.`);
}

interface ValidateOptions extends JobOptions {
  readonly scenario?: readonly Scenario[];
  readonly require?: readonly Requirement[];
  readonly requirements?: string;
  readonly variant?: string;
  readonly device?: string;
  readonly path?: readonly LoadPath[];
  readonly timeout: number;
}

/**
 * `millrace validate`: validates a model under load; exits with 1 for a missed requirement, 3 for insufficient
 * evidence.
 */
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
    kind: validation.kind,
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
