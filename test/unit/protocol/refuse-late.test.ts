import { expect, it } from "vitest";
import { refuseLate } from "../../../src/protocol/inference/refuse-late.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";

/** Whether a request is refused after a wait. */
async function isRefused(content: object, waitedMs: number): Promise<boolean> {
  const body = new TextEncoder().encode(JSON.stringify(content));
  return refuseLate(body, waitedMs).then(
    () => false,
    (error: unknown) => {
      expect(error).toBeInstanceOf(ProblemError);
      expect((error as ProblemError).problem).toMatchObject({ code: "overloaded", retryAfterMs: waitedMs });
      return true;
    },
  );
}

const data = Array.from({ length: 5_000 }, (_, at) => at / 7);

it.each([
  ["before the data", { parameters: { budget_ms: 20 }, inputs: [{ name: "x", data }] }],
  ["behind the data", { inputs: [{ name: "x", data }], parameters: { budget_ms: 20 } }],
  ["in microseconds", { inputs: [{ name: "x", data }], parameters: { timeout: 20_000 } }],
  ["in a short request", { inputs: [], parameters: { priority: 1, budget_ms: 20.0 } }],
])("refuses a request that waited for more than half of its budget, which stands %s", async (_, content) => {
  expect(await isRefused(content, 10)).toBe(false);
  expect(await isRefused(content, 11)).toBe(true);
});

it.each([
  ["that names no budget", { inputs: [{ name: "x", data: [1] }] }],
  ["without a timeout, which is 0", { inputs: [], parameters: { timeout: 0 } }],
  ["with a text that looks like a budget", { inputs: [{ name: "x", data: ['"budget_ms":1'] }] }],
])("lets a request through %s", async (_, content) => {
  expect(await isRefused(content, 60_000)).toBe(false);
});
