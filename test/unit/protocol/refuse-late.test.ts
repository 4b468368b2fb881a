import { expect, it } from "vitest";
import { refuseLate } from "../../../src/protocol/inference/refuse-late.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";

/** Whether a request is refused after a wait; `raw` are tensors behind its JSON part. */
function isRefused(json: string, waitedMs: number, raw?: string): boolean {
  const body = new TextEncoder().encode(json + (raw ?? ""));
  try {
    refuseLate(body, raw === undefined ? null : String(json.length), waitedMs);
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(ProblemError);
    expect((error as ProblemError).problem).toMatchObject({ code: "overloaded", retryAfterMs: waitedMs });
    return true;
  }
}

const data = Array.from({ length: 5_000 }, (_, at) => at / 7);

it.each([
  ["before the data", JSON.stringify({ parameters: { budget_ms: 20 }, inputs: [{ name: "x", data }] })],
  ["behind the data", JSON.stringify({ inputs: [{ name: "x", data }], parameters: { budget_ms: 20 } })],
  ["in microseconds", JSON.stringify({ inputs: [{ name: "x", data }], parameters: { timeout: 20_000 } })],
  ["with an exponent", '{"inputs": [], "parameters": {"timeout": 2.0E4}}'],
  ["beside a timeout", JSON.stringify({ inputs: [], parameters: { timeout: 1, budget_ms: 20 } })],
])("refuses a request that waited for more than half of its budget, which stands %s", (_, json) => {
  expect(isRefused(json, 10)).toBe(false);
  expect(isRefused(json, 11)).toBe(true);
});

it.each([
  ["that names no budget", JSON.stringify({ inputs: [{ name: "x", data: [1] }] })],
  ["whose timeout of 0 is none", JSON.stringify({ inputs: [], parameters: { timeout: 0 } })],
  ["with a text that looks like a budget", JSON.stringify({ inputs: [{ data: ['"budget_ms":1'] }] })],
  ["with two budgets", JSON.stringify({ inputs: [{ parameters: { timeout: 5 } }], parameters: { timeout: 9e6 } })],
])("lets a request through %s", (_, json) => {
  expect(isRefused(json, 60_000)).toBe(false);
});

it("reads no tensors, whatever their bytes look like", () => {
  const tensors = '{"timeout": 30, "budget_ms": 1}';
  expect(isRefused(JSON.stringify({ inputs: [] }), 60_000, tensors)).toBe(false);
  expect(isRefused("", 60_000, tensors)).toBe(false);
  expect(isRefused(JSON.stringify({ parameters: { budget_ms: 20 } }), 11, tensors)).toBe(true);
});
