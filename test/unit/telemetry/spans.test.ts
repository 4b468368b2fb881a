import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { encodeSpans, readOtlpHeaders, sendSpans, SpanQueue, tracesUrlOf } from "../../../src/telemetry/send-spans.ts";
import { addSpan, type Span, type SpanScope, traced } from "../../../src/telemetry/span.ts";
import { createTraceContext } from "../../../src/telemetry/trace-context.ts";

const context = { traceId: "0af7651916cd43dd8448eb211c80319c", parentId: "b7ad6b7169203331", sampled: true };

/** A scope whose clock goes by one at each look. */
function newScope(): { scope: SpanScope; spans: Span[] } {
  const spans: Span[] = [];
  let nowMs = 100;
  return { spans, scope: { context, now: () => nowMs++, add: (span) => void spans.push(span) } };
}

function newSpan(told: Partial<Span> = {}): Span {
  const ids = { traceId: context.traceId, spanId: context.parentId, parentSpanId: null };
  return { ...ids, name: "work", kind: "internal", startMs: 1, endMs: 2, attributes: {}, error: null, ...told };
}

describe("spans on the wire", () => {
  it("are what OTLP's JSON wants", () => {
    const span = newSpan({
      parentSpanId: "00f067aa0ba902b7",
      kind: "server",
      startMs: 1_795_000_000_000.125,
      endMs: 1_795_000_000_001.5,
      attributes: { text: "a", whole: 7, part: 0.5, flag: false },
      error: "it broke",
    });
    const text = encodeSpans([span, newSpan()], { "service.name": "test", "service.version": "1" }, 3);
    expect(JSON.parse(text)).toEqual({
      resourceSpans: [
        {
          resource: {
            attributes: [
              { key: "service.name", value: { stringValue: "test" } },
              { key: "service.version", value: { stringValue: "1" } },
            ],
          },
          scopeSpans: [
            {
              scope: {
                name: "millrace",
                version: "1",
                attributes: [{ key: "millrace.dropped", value: { intValue: "3" } }],
              },
              spans: [
                {
                  traceId: context.traceId,
                  spanId: context.parentId,
                  parentSpanId: "00f067aa0ba902b7",
                  name: "work",
                  kind: 2,
                  startTimeUnixNano: "1795000000000125000",
                  endTimeUnixNano: "1795000000001500000",
                  attributes: [
                    { key: "text", value: { stringValue: "a" } },
                    { key: "whole", value: { intValue: "7" } },
                    { key: "part", value: { doubleValue: 0.5 } },
                    { key: "flag", value: { boolValue: false } },
                  ],
                  status: { code: 2, message: "it broke" },
                },
                {
                  traceId: context.traceId,
                  spanId: context.parentId,
                  name: "work",
                  kind: 1,
                  startTimeUnixNano: "1000000",
                  endTimeUnixNano: "2000000",
                  attributes: [],
                  status: {},
                },
              ],
            },
          ],
        },
      ],
    });
  });
});

describe("traced work", () => {
  it("is a span, and what is within it its child", async () => {
    const { scope, spans } = newScope();
    const describeOutput = (output: number) => ({ attributes: { output } });
    const details = { kind: "client", attributes: { input: 1 }, describe: describeOutput } as const;
    const output = await traced(scope, "outer", details, async (outer) => {
      addSpan(addSpan(outer!, { name: "inner", startMs: 5, endMs: 6 }), { name: "innermost", startMs: 5, endMs: 5.5 });
      return 42;
    });
    expect(output).toBe(42);
    const [inner, innermost, outer] = spans;
    expect(outer).toMatchObject({
      name: "outer",
      kind: "client",
      parentSpanId: context.parentId,
      startMs: 100,
      endMs: 101,
      attributes: { input: 1, output: 42 },
      error: null,
    });
    expect(inner).toMatchObject({ name: "inner", parentSpanId: outer?.spanId, startMs: 5, endMs: 6 });
    expect(innermost).toMatchObject({ name: "innermost", parentSpanId: inner?.spanId });
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([context.traceId]));
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(3);
  });

  it("that fails says why, as does what came of it, and fails all the same", async () => {
    const { scope, spans } = newScope();
    await expect(traced(scope, "bad", {}, () => Promise.reject(new Error("it broke")))).rejects.toThrow("it broke");
    await traced(scope, "poor", { describe: () => ({ error: "offline" }) }, async () => "offline");
    expect(spans.map(({ name, error }) => [name, error])).toEqual([
      ["bad", "it broke"],
      ["poor", "offline"],
    ]);
  });

  it("is only done where there is no scope", async () => {
    expect(await traced(null, "work", {}, async (scope) => scope)).toBeNull();
  });
});

describe("a queue of spans", () => {
  it("holds so many, drops further ones, and reports each loss once", () => {
    const queue = new SpanQueue(2);
    for (const name of ["a", "b", "c", "d"]) queue.add(newSpan({ name }));
    expect([queue.size, queue.dropped]).toEqual([2, 2]);
    const first = queue.take(1);
    expect(first).toMatchObject({ spans: [{ name: "a" }], dropped: 2 });
    expect(queue.take(5)).toMatchObject({ spans: [{ name: "b" }], dropped: 0 });
    expect([queue.size, queue.dropped]).toEqual([0, 2]);
  });

  it("is sent export by export, and keeps what a collector that fails was not offered", async () => {
    // An export may take two seconds, of which a machine that stands still needs more.
    const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation(() => new AbortController().signal);
    onTestFinished(() => timeout.mockRestore());
    const bodies: string[] = [];
    let status = 200;
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      request.on("end", () => {
        bodies.push(body);
        response.writeHead(status).end();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const target = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`, headers: {} };
    const queue = new SpanQueue(10_000);
    for (let index = 0; index < 600; index++) queue.add(newSpan());
    await sendSpans(queue, target, {});
    expect(bodies).toHaveLength(2);
    expect(timeout.mock.calls).toEqual([[2_000], [2_000]]);
    expect([queue.size, queue.dropped]).toEqual([0, 0]);
    status = 503;
    for (let index = 0; index < 600; index++) queue.add(newSpan());
    await sendSpans(queue, target, {});
    expect(bodies).toHaveLength(3);
    expect([queue.size, queue.dropped]).toEqual([88, 512]);
    await sendSpans(queue, { ...target, url: "http://127.0.0.1:1/" }, {});
    expect([queue.size, queue.dropped]).toEqual([0, 600]);
  });
});

describe("settings of a collector", () => {
  it("name where traces go and with which headers", () => {
    expect(tracesUrlOf("http://collector:4318")).toBe("http://collector:4318/v1/traces");
    expect(tracesUrlOf("http://collector:4318/base/")).toBe("http://collector:4318/base/v1/traces");
    expect(readOtlpHeaders("")).toEqual({});
    expect(readOtlpHeaders("api-key=a%20b%3D, X-Team=edge,")).toEqual({ "api-key": "a b=", "x-team": "edge" });
  });

  it.each(["novalue", "=value", "a b=c", "name=%E0%A4%A", "name=a%0Ab"])("are refused: %s", (text) => {
    expect(readOtlpHeaders(text)).toBeNull();
  });
});

describe("sampling", () => {
  it("is the caller's choice, else by the ratio, alike for one trace", () => {
    const shareOf = (ratio: number) =>
      Array.from({ length: 2_000 }, () => createTraceContext(null, ratio)).filter(({ sampled }) => sampled).length /
      2_000;
    expect(shareOf(0)).toBe(0);
    expect(shareOf(1)).toBe(1);
    // Nine standard deviations: 2,000 ids that chance draws.
    expect(Math.abs(shareOf(0.5) - 0.5)).toBeLessThan(0.1);
    expect(createTraceContext(context, 0).sampled).toBe(true);
    expect(createTraceContext({ ...context, sampled: false }, 1).sampled).toBe(false);
  });
});
