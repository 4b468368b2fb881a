import { Command, Option } from "commander";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { ActionChoice, type ActReply } from "../../protocol/policies/policy.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { ProblemError, reviveProblem } from "../../protocol/wire/problem.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { numberBetween } from "../options/option-values.ts";
import { formatWith } from "../render/format-values.ts";
import { renderFacts } from "../render/render-table.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { namePlace } from "../../words/models.ts";
import { latencyBars } from "./render-answer.ts";

/** The lines of a stream as they come; an empty one counts, the last one need not end. */
export async function* readLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of input) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}

interface ActOptions extends EdgeOptions {
  readonly observation: string;
  readonly budget: number;
  readonly action: ActionChoice;
}

/** `millrace act`: asks a policy what to do, once or for every line of observations. */
export function actCommand(shell: Shell = PROCESS): Command {
  return addEdge(new Command("act"), "scope infer")
    .description("Ask a policy what to do: one observation, or a line of each on standard input for a line of actions")
    .argument("<policy>", "a policy; `name@2` names a version")
    .option("--observation <json>", "an array of numbers; - reads one a line from standard input", "-")
    .option("--budget <ms>", "of each request", numberBetween(LIMITS.minBudgetMs, LIMITS.maxBudgetMs), 1_000)
    .addOption(
      new Option("--action <choice>", "how outputs become an action").choices(ActionChoice.options).default("argmax"),
    )
    .action((policy: string, options: ActOptions) =>
      options.observation === "-" ? actOnLines(policy, options, shell) : actOnce(policy, options, shell),
    );
}

async function actOnce(policy: string, options: ActOptions, shell: Shell): Promise<void> {
  const reply = await ask(await openEdge(options, shell), policy, parseJson(options.observation), options);
  if (options.json) return shell.print(`${JSON.stringify(reply)}\n`);
  const { placement, latency, budgetMs } = reply;
  const facts = renderFacts([
    ["ran on", namePlace(placement)],
    ["latency", `${formatWith(latency.totalMs, "ms")} of ${formatWith(budgetMs, "ms")}`],
    ...latencyBars(latency),
  ]);
  shell.print(`${JSON.stringify(reply.action)}\n`);
  shell.warn(facts);
}

/** One after the other, since the next observation comes of the last action as a rule. */
async function actOnLines(policy: string, options: ActOptions, shell: Shell): Promise<void> {
  const client = await openEdge(options, shell);
  let number = 0;
  for await (const line of readLines(shell.input())) {
    number++;
    if (line.trim() === "") continue;
    try {
      const reply = await ask(client, policy, parseJson(line), options);
      shell.print(`${JSON.stringify(options.json ? reply : reply.action)}\n`);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      throw reviveProblem({ ...error.problem, detail: `Line ${number}: ${error.problem.detail}` });
    }
  }
}

function ask(client: Client, policy: string, observation: unknown, options: ActOptions): Promise<ActReply> {
  if (!Array.isArray(observation)) {
    throw new ProblemError("invalid-request", "An observation must be a JSON array of numbers.");
  }
  const body = { observation: observation as number[], budgetMs: options.budget, action: options.action };
  return client.call(endpoints.actPolicy, { params: { id: policy }, body });
}
