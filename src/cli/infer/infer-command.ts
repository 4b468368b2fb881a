import { Command } from "commander";
import type { Client } from "../../client/client.ts";
import type { Sendable } from "../../client/call-options.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { InferRequest } from "../../protocol/inference/inference.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { type InputOptions, readInputs } from "./read-inputs.ts";
import { renderAnswer } from "./render-answer.ts";
import { findVersion } from "./find-version.ts";
import { collect, numberBetween, wholeBetween } from "../options/option-values.ts";
import { readJson } from "../shell/read-json.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";

interface InferOptions extends EdgeOptions, InputOptions {
  readonly budget?: number;
  readonly confidence?: number;
  readonly refuseWithin?: number;
  readonly top: number;
}

/** Default if neither option nor request sets one. */
const BUDGET_MS = 1_000;

/** `millrace infer`: one request to a model, from JSON, a picture or a sound. */
export function inferCommand(shell: Shell = PROCESS): Command {
  return addEdge(new Command("infer"), "scopes infer and read")
    .description("Ask a model within a budget: the largest outputs, where it ran, where the time went")
    .argument("<model>", "model; `name@2` names a version")
    .argument("[file]", "a request as JSON, or the array of its only input; - is standard input")
    .option(
      "--budget <ms>",
      `(default: the request's, else ${BUDGET_MS})`,
      numberBetween(LIMITS.minBudgetMs, LIMITS.maxBudgetMs),
    )
    .option("--confidence <share>", "that the budget is kept (default: 0.99)", numberBetween(0.5, 0.999))
    .option(
      "--refuse-within <ms>",
      "time from the arrival within which a refusal is early enough (default: at once)",
      numberBetween(0, LIMITS.maxBudgetMs),
    )
    .option("--input <name=json>", "an input as JSON, or @file; again for more", collect(String))
    .option("--image <file>", "a PNG file, fitted to the input: resized, grey or RGB, 0 to 1")
    .option("--wav <file>", "a WAV file, fitted to the input: mono, cut or filled up")
    .option(
      "--rate <hz>",
      "that the model wants of --wav: resampled linearly (default: as it is)",
      wholeBetween(1, 1e6),
    )
    .option("--top <k>", "outputs of each row that are shown", wholeBetween(1, 1_000), 5)
    .action((model: string, file: string | undefined, options: InferOptions) => infer(model, file, options, shell));
}

async function infer(model: string, file: string | undefined, options: InferOptions, shell: Shell): Promise<void> {
  const client = await openEdge(options, shell);
  const { budget, confidence, refuseWithin, top, json } = options;
  const request = await readRequest(client, model, file, options, shell);
  const body = {
    budgetMs: BUDGET_MS,
    ...request,
    model,
    ...(budget !== undefined && { budgetMs: budget }),
    ...(confidence !== undefined && { confidence }),
    ...(refuseWithin !== undefined && { refuseWithinMs: refuseWithin }),
  };
  const reply = await client.call(endpoints.infer, { body });
  shell.print(json ? `${JSON.stringify(reply)}\n` : renderAnswer(reply, top));
}

/** Request from the file, or made from the options. */
async function readRequest(
  client: Client,
  model: string,
  file: string | undefined,
  options: InferOptions,
  shell: Shell,
): Promise<Sendable<InferRequest>> {
  const isGiven = options.input !== undefined || options.image !== undefined || options.wav !== undefined;
  if (file === undefined && !isGiven && shell.inputIsTerminal) {
    throw new ProblemError("invalid-request", "Name a file, or give --input, --image or --wav.");
  }
  const value = file === undefined && isGiven ? undefined : await readJson(file ?? "-", shell);
  // The edge says what is wrong with a whole request.
  if (isRequest(value)) return value;
  const [, version] = await findVersion(client, model);
  return { inputs: await readInputs(value, options, version, shell) };
}

function isRequest(value: unknown): value is Sendable<InferRequest> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && "inputs" in value;
}
