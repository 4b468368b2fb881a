import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createClient } from "../../../src/client/client.ts";
import type { StreamState } from "../../../src/client/event-stream.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { FeedEvent } from "../../../src/protocol/service/service-state.ts";
import { createProblem } from "../../../src/protocol/wire/problem.ts";
import { createRecordingFetch, events, json } from "./recording-fetch.ts";

const at = "2026-11-21T09:30:00.000Z";
const schema = FeedEvent;
const runner = { type: "runner", id: "rnr_1", at } as const;
const job = { type: "job", id: null, at } as const;
const asText = (event: FeedEvent, id?: string) =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

function openStream(fetch: typeof globalThis.fetch, options: object = {}) {
  return createClient({ baseUrl: "http://edge.test", key: "mk_1", fetch }).stream(endpoints.streamEvents, {
    schema,
    ...options,
  });
}

async function collect<Item>(items: AsyncIterable<Item>, limit = Number.POSITIVE_INFINITY): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) if (collected.push(item) >= limit) break;
  return collected;
}

describe("a stream that ends", () => {
  it("gives parsed events, wherever the chunks are cut", async () => {
    const text = `: hello\n\n${asText(runner, "7")}${asText(job)}`;
    const { fetch, requests } = createRecordingFetch(events(text.split("")));
    expect(await collect(openStream(fetch))).toEqual([
      { id: "7", type: "runner", data: runner },
      { id: null, type: "job", data: job },
    ]);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.headers.get("accept")).toBe("text/event-stream");
    expect(requests[0]?.headers.get("authorization")).toBe("Bearer mk_1");
  });

  it("resumes behind the event that the caller saw", async () => {
    const { fetch, requests } = createRecordingFetch(events([]));
    await collect(openStream(fetch, { lastEventId: "41" }));
    expect(requests[0]?.headers.get("last-event-id")).toBe("41");
  });

  it("throws on data that the protocol does not know", async () => {
    const { fetch } = createRecordingFetch(events(['data: {"type":"weather"}\n\n']));
    await expect(collect(openStream(fetch, { reconnect: true }))).rejects.toThrow(
      /sent an event with what the protocol does not know \(type: /,
    );
  });

  it("throws on a reply that is no event stream", async () => {
    const { fetch } = createRecordingFetch(json({}));
    await expect(collect(openStream(fetch))).rejects.toThrow("answered 200 with application/json, not an event stream");
  });
});

describe("a stream that reconnects", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("goes on behind the last event after an end, a failure and a passing problem", async () => {
    const overloaded = createProblem("overloaded", "later");
    const { fetch, requests } = createRecordingFetch(
      events([asText(runner, "1")]),
      () => Promise.reject(new TypeError("fetch failed")),
      json(overloaded, 503, "application/problem+json"),
      events([asText(job, "2")], { open: true }),
    );
    const states: StreamState[] = [];
    const collected = collect(
      openStream(fetch, { reconnect: true, onState: (state: StreamState) => states.push(state) }),
      2,
    );
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await collected).map(({ id }) => id)).toEqual(["1", "2"]);
    expect(requests.map(({ headers }) => headers.get("last-event-id"))).toEqual([null, "1", "1", "1"]);
    const missed = ["waiting", "connecting"];
    expect(states).toEqual(["connecting", "open", ...missed, ...missed, ...missed, "open"]);
  });

  it("waits longer after each failure, up to a limit", async () => {
    const startedAt: number[] = [];
    const fetch = () => {
      startedAt.push(Date.now());
      return Promise.reject(new TypeError("fetch failed"));
    };
    const abort = new AbortController();
    const collected = collect(openStream(fetch, { reconnect: true, signal: abort.signal }));
    await vi.advanceTimersByTimeAsync(120_000);
    abort.abort();
    await collected;
    const gaps = startedAt.slice(1).map((time, index) => time - (startedAt[index] ?? 0));
    for (const [index, gap] of gaps.entries()) {
      const ceiling = Math.min(15_000, 500 * 2 ** index);
      expect(gap).toBeGreaterThanOrEqual(ceiling / 2 - 1);
      expect(gap).toBeLessThanOrEqual(ceiling + 1);
    }
    expect(gaps.length).toBeGreaterThan(8);
  });

  it("heeds the pause that the server asks for", async () => {
    const { fetch, requests } = createRecordingFetch(events(["retry: 30000\n\n", asText(job)]), events([asText(job)]));
    const collected = collect(openStream(fetch, { reconnect: true }), 2);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await collected).toHaveLength(2);
  });

  it("leaves a connection that has fallen silent", async () => {
    const { fetch, requests } = createRecordingFetch(
      events([asText(runner)], { open: true }),
      events([asText(job)], { open: true }),
    );
    const collected = collect(openStream(fetch, { reconnect: true, silenceMs: 45_000 }), 2);
    await vi.advanceTimersByTimeAsync(44_000);
    expect(requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(3_000);
    expect((await collected).map(({ data }) => data)).toEqual([runner, job]);
  });

  it("gives up on a problem that would come again", async () => {
    const { fetch, requests } = createRecordingFetch(
      json(createProblem("unauthorized", "no"), 401, "application/problem+json"),
    );
    await expect(collect(openStream(fetch, { reconnect: true }))).rejects.toMatchObject({
      problem: { code: "unauthorized" },
    });
    expect(requests).toHaveLength(1);
  });

  it("ends quietly when it is aborted while it waits", async () => {
    const abort = new AbortController();
    const { fetch } = createRecordingFetch(events([]));
    const collected = collect(openStream(fetch, { reconnect: true, signal: abort.signal }));
    await vi.advanceTimersByTimeAsync(10);
    abort.abort();
    expect(await collected).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it("closes the connection when the reader leaves", async () => {
  let isCancelled = false;
  const { fetch } = createRecordingFetch(() => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(asText(runner))),
      cancel: () => void (isCancelled = true),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  await collect(openStream(fetch, { reconnect: true }), 1);
  expect(isCancelled).toBe(true);
});
