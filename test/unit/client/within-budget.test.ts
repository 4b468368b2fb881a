import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { act, infer, inferFrame, REPLY_MARGIN_MS } from "../../../src/client/infer.ts";
import { createClient } from "../../../src/client/client.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import type { Tensor } from "../../../src/protocol/wire/tensor.ts";
import { createRecordingFetch, json } from "./recording-fetch.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A client of an edge that never answers. */
function openSilent() {
  const { fetch } = createRecordingFetch(
    ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      }),
  );
  return createClient({ baseUrl: "http://edge.test", fetch });
}

const input: Tensor = { name: "x", dtype: "float32", shape: [1], bytes: new Uint8Array(4) };
const body = { model: "m", budgetMs: 20, inputs: { x: { data: [1] } } };

it.each([
  ["infer", (marginMs?: number) => infer(openSilent(), body, marginMs === undefined ? {} : { marginMs })],
  ["act", (marginMs?: number) => act(openSilent(), "m", { budgetMs: 20 }, marginMs === undefined ? {} : { marginMs })],
  [
    "inferFrame",
    (marginMs?: number) =>
      inferFrame(openSilent(), {
        model: "m",
        budgetMs: 20,
        inputs: [input],
        ...(marginMs !== undefined && { marginMs }),
      }),
  ],
])("%s gives up once no reply can come in time any more", async (_, start) => {
  for (const marginMs of [undefined, 0, 500]) {
    let error: unknown = null;
    const ended = start(marginMs).catch((thrown: unknown) => (error = thrown));
    await vi.advanceTimersByTimeAsync(20 + (marginMs ?? REPLY_MARGIN_MS) - 1);
    expect(error).toBeNull();
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    expect(error).toMatchObject({ name: "ProblemError", problem: { code: "budget-exceeded" } });
  }
});

it("passes the caller's abort on, before the budget has ended", async () => {
  const abort = new AbortController();
  const ended = infer(openSilent(), body, { signal: abort.signal });
  abort.abort(new Error("enough"));
  await expect(ended).rejects.toThrow("enough");
  expect(vi.getTimerCount()).toBe(0);
});

it("leaves no timer behind an answer", async () => {
  const problem = createProblem("budget-unattainable", "no");
  const { fetch, requests } = createRecordingFetch(json(problem, 422, "application/problem+json"));
  const ended = infer(createClient({ baseUrl: "http://edge.test", fetch }), body);
  await expect(ended).rejects.toMatchObject({ problem: { code: "budget-unattainable" } });
  expect(await requests[0]?.json()).toEqual(body);
  expect(vi.getTimerCount()).toBe(0);
});
