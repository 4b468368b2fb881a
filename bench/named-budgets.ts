import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { setTimeout } from "node:timers/promises";
import { readZooCard } from "../models/model-card.ts";
import { ZOO, zooFolder } from "../models/zoo.ts";
import { inferFrame } from "../src/client/infer.ts";
import { endpoints } from "../src/protocol/endpoints.ts";
import { createSeededInputs } from "../src/protocol/models/model-inputs.ts";
import { type Problem, ProblemError } from "../src/protocol/wire/problem.ts";
import type { Tensor } from "../src/protocol/wire/tensor.ts";
import type { Bench } from "./benches.ts";
import { type Stack, startStack } from "./hop/start-stack.ts";
import { createRow } from "./row.ts";

/** The least budget that a request may have: no network is answered within it, so that its refusal names another. */
const UNATTAINABLE_MS = 0.1;
/** Requests with one named budget, which holds for ten seconds. */
const REQUESTS = 25;
const ATTEMPTS = 10;
const OPEN = new Set(["queued", "leased"]);

/**
 * Requests to every network of the zoo with the budget that a refusal has just named, one after the other on an idle
 * system: the share that is answered. Of each network a round names one budget.
 */
export const benchNamedBudgets: Bench = async function* benchNamedBudgets({ bench, rounds, say }) {
  const stack = await startStack((text) => say(`${bench}: ${text}`));
  const place = { device: cpus()[0]?.model.trim() ?? "unknown", software: false };
  const shares = new Map<string, number[]>();
  try {
    const networks = new Map<string, Tensor[]>();
    for (const { name } of ZOO) {
      say(`${bench}: placing ${name}`);
      const { file } = readZooCard(zooFolder(name));
      await stack.place(name, new Uint8Array(await readFile(new URL(file.name, zooFolder(name)))));
      const { versions } = await stack.client.call(endpoints.getModel, { params: { model: name } });
      networks.set(name, createSeededInputs(versions[0]!.inputs, 0));
    }
    await waitForJobs(stack);
    for (const [name, inputs] of networks) {
      const found: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const budgetMs = await askForBudget(stack, name, inputs);
        let answered = 0;
        for (let request = 0; request < REQUESTS; request++) {
          const problem = await ask(stack, name, inputs, budgetMs);
          if (problem === null) answered++;
          else say(`${bench}: ${name} with ${budgetMs} ms: ${problem.code}, ${problem.detail}`);
        }
        found.push((100 * answered) / REQUESTS);
      }
      shares.set(name, found);
    }
  } finally {
    await stack.stop();
  }
  const metric = ["answered", { unit: "%", better: "higher", oursOnly: true }] as const;
  // A median would hide what a round lost.
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  for (const [name, found] of shares)
    yield createRow({ bench, case: name, rounds, ...place }, metric, [mean(found)], null);
  yield createRow({ bench, case: "all", rounds, ...place }, metric, [mean([...shares.values()].flat())], null);
};

async function waitForJobs({ client }: Stack): Promise<void> {
  for (;;) {
    const { items } = await client.call(endpoints.listJobs);
    if (items.every(({ state }) => !OPEN.has(state))) return;
    await setTimeout(500);
  }
}

/** The budget that a refusal names; a runner that has stopped answering is asked again once it may have come back. */
async function askForBudget(stack: Stack, name: string, inputs: Tensor[]): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const named = await ask(stack, name, inputs, UNATTAINABLE_MS);
    if (named?.fits !== undefined) return named.fits.budgetMs;
    await setTimeout(named?.retryAfterMs ?? 0);
  }
  throw new Error(`${name} named no budget`);
}

/** The problem of a request; null where it was answered. */
async function ask(stack: Stack, model: string, inputs: Tensor[], budgetMs: number): Promise<Problem | null> {
  try {
    await inferFrame(stack.client, { model, budgetMs, inputs });
    return null;
  } catch (error) {
    if (error instanceof ProblemError) return error.problem;
    throw error;
  }
}
