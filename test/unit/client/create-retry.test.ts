import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import { createRetry, type RetryNotice, type RetryOptions } from "../../../src/client/retry.ts";
import { submitJob } from "../../../src/client/jobs.ts";
import type { Endpoint } from "../../../src/protocol/endpoint.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { createProblem, type ProblemCode } from "../../../src/protocol/wire/problem.ts";
import { createRecordingFetch, json } from "./recording-fetch.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Answer = (request: Request) => Response | Promise<Response>;

const noRunners = { items: [], nextCursor: null };
const spec = { kind: "benchmark", kernel: "triad", shape: { n: 8 } } as const;

function refuse(code: ProblemCode, retryAfterMs?: number) {
  const problem = createProblem(code, "no", retryAfterMs === undefined ? {} : { retryAfterMs });
  return json(problem, problem.status, "application/problem+json");
}

const breakDown = () => Promise.reject(new TypeError("fetch failed"));

/** A client that retries, its requests, and its reports of waits. */
function openRetrying(answers: readonly Answer[], options: RetryOptions = {}) {
  const { fetch, requests } = createRecordingFetch(...answers);
  const notices: RetryNotice[] = [];
  const retry = createRetry({ onRetry: (notice) => notices.push(notice), ...options });
  return { client: createClient({ baseUrl: "http://edge.test", fetch, retry }), requests, notices };
}

/** Outcome of work, once all its waits are over. */
async function settle<Value>(work: Promise<Value>) {
  const settled = work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  await vi.runAllTimersAsync();
  return settled;
}

describe("what is sent again", () => {
  it("is a read that failed on the way or by a problem that passes", async () => {
    const { client, requests, notices } = openRetrying([breakDown, refuse("internal"), json(noRunners)]);
    expect(await settle(client.call(endpoints.listRunners))).toEqual({ value: noRunners });
    expect(requests).toHaveLength(3);
    expect(notices.map(({ failures, endpoint }) => [failures, endpoint.path])).toEqual([
      [1, "/v1/runners"],
      [2, "/v1/runners"],
    ]);
    expect(notices[1]?.error).toMatchObject({ problem: { code: "internal" } });
  });

  it("is a read whose reply breaks off", async () => {
    const torn = () => {
      const start = (controller: ReadableStreamDefaultController) => controller.error(new TypeError("terminated"));
      return new Response(new ReadableStream({ start }));
    };
    const { client } = openRetrying([torn, json(noRunners)]);
    expect(await settle(client.call(endpoints.listRunners))).toEqual({ value: noRunners });
  });

  it("is a file that is asked for unread, and a DELETE", async () => {
    const params = { name: "mine" };
    const { client, requests } = openRetrying([
      breakDown,
      () => new Response("x"),
      refuse("runner-lost"),
      () => new Response(null, { status: 204 }),
    ]);
    expect(await settle(client.send(endpoints.getRunTrace, { params: { id: "run_1" } }))).toHaveProperty("value");
    expect(await settle(client.call(endpoints.deleteProfile, { params }))).toEqual({ value: undefined });
    expect(requests).toHaveLength(4);
  });

  it("is a POST of which the table says so, with its whole body", async () => {
    const { client, requests } = openRetrying([breakDown, refuse("internal")], { attempts: 2 });
    const rawBody = { mediaType: "application/octet-stream", content: new Uint8Array([8, 0, 255]) };
    await settle(client.call(endpoints.uploadModel, { query: { name: "m" }, rawBody }));
    expect(await Promise.all(requests.map((request) => request.bytes()))).toEqual([rawBody.content, rawBody.content]);
  });

  it("is a job, under one key that the client makes", async () => {
    const { client, requests } = openRetrying([breakDown, refuse("queue-full"), breakDown, breakDown]);
    await settle(submitJob(client, spec));
    const keys = requests.map(({ headers }) => headers.get("idempotency-key"));
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[\w-]{36}$/);
  });

  it("is a job under the caller's key where there is one", async () => {
    const { client, requests } = openRetrying([breakDown, breakDown], { attempts: 2 });
    await settle(submitJob(client, spec, { idempotencyKey: "mine" }));
    expect(requests.map(({ headers }) => headers.get("idempotency-key"))).toEqual(["mine", "mine"]);
  });
});

describe("what is sent once", () => {
  it("is an inference, whatever becomes of it", async () => {
    const body = { model: "m", budgetMs: 20, inputs: {} };
    for (const answer of [breakDown, refuse("overloaded", 1), refuse("runner-lost")]) {
      const { client, requests } = openRetrying([answer, json({})]);
      expect(await settle(client.call(endpoints.infer, { body }))).toHaveProperty("error");
      expect(requests).toHaveLength(1);
    }
  });

  it("is every POST of which the table says nothing", async () => {
    const table: Endpoint[] = Object.values(endpoints as unknown as Record<string, Endpoint>);
    const silent = table.filter(({ method, repeatable }) => method === "post" && repeatable === undefined);
    expect(silent.length).toBeGreaterThan(10);
    for (const endpoint of silent) {
      const { client, requests } = openRetrying([breakDown, json({})]);
      const params = Object.fromEntries([...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, "x"]));
      expect(await settle(client.send(endpoint, { params }))).toHaveProperty("error");
      expect(requests, endpoint.path).toHaveLength(1);
    }
  });

  it("is what would fail again, or what no protocol explains", async () => {
    for (const answer of [refuse("not-found"), json({ items: 1 })]) {
      const { client, requests } = openRetrying([answer, json(noRunners)]);
      expect(await settle(client.call(endpoints.listRunners))).toHaveProperty("error");
      expect(requests).toHaveLength(1);
    }
  });

  it("is everything by a client without retries", async () => {
    const { fetch, requests } = createRecordingFetch(breakDown, json(noRunners));
    const client = createClient({ baseUrl: "http://edge.test", fetch });
    expect(await settle(client.call(endpoints.listRunners))).toHaveProperty("error");
    expect(requests).toHaveLength(1);
  });
});

describe("how long it goes on", () => {
  it("ends with the last attempt, and throws what that met", async () => {
    const { client, requests } = openRetrying([breakDown, breakDown, refuse("internal"), json(noRunners)], {
      attempts: 3,
    });
    expect(await settle(client.call(endpoints.listRunners))).toMatchObject({
      error: { problem: { code: "internal" } },
    });
    expect(requests).toHaveLength(3);
  });

  it("waits as long as the problem asks, and longer with each failure", async () => {
    const { client, notices } = openRetrying([refuse("overloaded", 7_000), breakDown, breakDown, json(noRunners)]);
    await settle(client.call(endpoints.listRunners));
    const [first, second, third] = notices.map(({ waitMs }) => waitMs);
    expect(first).toBe(7_000);
    expect(second).toBeGreaterThanOrEqual(500);
    expect(second).toBeLessThanOrEqual(1_000);
    expect(third).toBeGreaterThanOrEqual(1_000);
    expect(third).toBeLessThanOrEqual(2_000);
  });

  it("reads Retry-After of what answers in place of the service", async () => {
    const instant = new Date(Date.now() + 9_000).toUTCString();
    const gateway = (retryAfter: string, status: number) => () =>
      new Response("slow down", { status, headers: { "retry-after": retryAfter } });
    const { client, notices } = openRetrying([gateway("4", 429), gateway(instant, 503), json(noRunners)]);
    expect(await settle(client.call(endpoints.listRunners))).toEqual({ value: noRunners });
    expect(notices[0]?.waitMs).toBe(4_000);
    // An instant has whole seconds, and the first wait is over by then.
    expect(notices[1]?.waitMs).toBeGreaterThan(3_000);
    expect(notices[1]?.waitMs).toBeLessThanOrEqual(5_000);
  });

  it("begins no wait that would end too late", async () => {
    const { client, requests, notices } = openRetrying([refuse("overloaded", 30_001), json(noRunners)]);
    expect(await settle(client.call(endpoints.listRunners))).toHaveProperty("error");
    expect([requests.length, notices.length]).toEqual([1, 0]);
    const patient = openRetrying([refuse("overloaded", 30_001), json(noRunners)], { totalMs: 60_000 });
    expect(await settle(patient.client.call(endpoints.listRunners))).toEqual({ value: noRunners });
  });

  it("ends at once when the caller aborts in a wait", async () => {
    const abort = new AbortController();
    const { client, requests } = openRetrying([breakDown, json(noRunners)], {
      onRetry: () => abort.abort(new Error("enough")),
    });
    const outcome = await settle(client.call(endpoints.listRunners, { signal: abort.signal }));
    expect(outcome).toMatchObject({ error: { message: "enough" } });
    expect(requests).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
