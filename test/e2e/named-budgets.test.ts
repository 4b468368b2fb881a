import { afterAll, beforeAll, expect, it } from "vitest";
import { inferFrame } from "../../src/client/infer.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { createSeededInputs } from "../../src/protocol/models/model-inputs.ts";
import type { TensorSpec } from "../../src/protocol/models/model.ts";
import { type ProblemCode, ProblemError } from "../../src/protocol/wire/problem.ts";
import { type LocalStack, placeModel, startLocalStack, waitFor } from "./local-stack.ts";

/** A dense, two convolutional networks and a recurrent one. */
const NETWORKS = ["cartpole", "lenet5", "gesture-gru", "dncnn5"];
/** A budget holds for so many requests, or until one is missed: the machine may be slower from then on. */
const TIMES = 25;
const ASKED = 100;
/** On an idle machine 99 of 100 are answered; the tests share theirs with others. */
const ANSWERED = 80;

let stack: LocalStack;
const inputs = new Map<string, TensorSpec[]>();
beforeAll(async () => {
  stack = await startLocalStack({
    edgeVariables: { CALIBRATION_ITERATIONS: "300" },
    runnerVariables: () => ({ MILLRACE_GPU: "none" }),
  });
  for (const name of NETWORKS) {
    await placeModel(stack, name);
    const { versions } = await stack.client.call(endpoints.getModel, { params: { model: name } });
    inputs.set(name, versions[0]!.inputs);
  }
  await waitFor("no job to be open", async () => {
    const { items } = await stack.client.call(endpoints.listJobs);
    return items.every(({ state }) => state === "succeeded" || state === "failed") ? true : undefined;
  });
}, 900_000);
afterAll(() => stack.stop());

/** The problem of a request; null where it was answered. */
async function ask(model: string, budgetMs: number): Promise<ProblemError["problem"] | null> {
  try {
    await inferFrame(stack.client, { model, budgetMs, inputs: createSeededInputs(inputs.get(model)!, 0) });
    return null;
  } catch (error) {
    if (error instanceof ProblemError) return error.problem;
    throw error;
  }
}

/** What a refusal names as fitting; one for another reason, such as a runner that just came back, is asked again. */
function nameBudget(model: string): Promise<NonNullable<ProblemError["problem"]["fits"]>> {
  return waitFor("a refusal that names a budget", async () => (await ask(model, 0.1))?.fits);
}

it.each(NETWORKS)("%s answers the budget that its refusal named", async (name) => {
  const ends: Partial<Record<ProblemCode | "answered", number>> = {};
  for (let asked = 0; asked < ASKED;) {
    const fits = await nameBudget(name);
    let end: ProblemCode | "answered" = "answered";
    for (let i = 0; i < TIMES && asked < ASKED && end === "answered"; i++, asked++) {
      end = (await ask(name, fits.budgetMs))?.code ?? "answered";
      ends[end] = (ends[end] ?? 0) + 1;
    }
  }
  expect(ends.answered, JSON.stringify(ends)).toBeGreaterThanOrEqual(ANSWERED);
});
