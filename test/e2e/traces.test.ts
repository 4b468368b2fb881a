import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { createTraceContext, formatTraceparent } from "../../src/telemetry/trace-context.ts";
import { parseMetrics, valueOf } from "../edge/stack/parse-metrics.ts";
import { type LocalStack, placeModel, startLocalStack, waitFor, waitForJob } from "./local-stack.ts";
import { type CollectedSpan, type SpanCollector, startCollector } from "./span-collector.ts";

const MODEL = "lenet5";
/** The edge's clock has steps of a millisecond. */
const STEP_US = 1_000;

let collector: SpanCollector;
let stack: LocalStack;
let body: string;

beforeAll(async () => {
  collector = await startCollector();
  stack = await startLocalStack({
    edgeVariables: { OTLP_ENDPOINT: collector.url, OTLP_HEADERS: "x-team=edge%20team" },
    runnerVariables: () => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      MILLRACE_METRICS: "0",
      MILLRACE_GPU: "software",
    }),
  });
  await placeModel(stack, MODEL);
  const example = join(import.meta.dirname, `../../models/${MODEL}/example-request.json`);
  const { model: _, ...request } = JSON.parse(await readFile(example, "utf8")) as { model?: string };
  body = JSON.stringify({ ...request, model: MODEL, budgetMs: 60_000 });
});
afterAll(async () => {
  await stack?.stop();
  await collector?.stop();
});

/** Sends a request within a new trace, and gives what it belongs to. */
async function send(path: string, text: string, sampled = true) {
  const caller = { ...createTraceContext(null), sampled };
  const response = await fetch(new URL(path, stack.baseUrl), {
    method: "POST",
    headers: {
      authorization: `Bearer ${stack.adminKey}`,
      "content-type": "application/json",
      traceparent: formatTraceparent(caller),
    },
    body: text,
  });
  return { caller, status: response.status, json: (await response.json()) as { id: string } };
}

/** The spans of a trace, once one of each of these names is there. */
function spansOf(traceId: string, names: readonly string[]): Promise<Map<string, CollectedSpan>> {
  return waitFor(`the spans ${names.join(", ")}`, async () => {
    const found = collector.spans.filter((span) => span.traceId === traceId);
    const byName = new Map(found.map((span) => [span.name, span]));
    return names.every((name) => byName.has(name)) ? byName : undefined;
  });
}

/** That each span is within the one before it, as its child. */
function expectNested(spans: ReadonlyMap<string, CollectedSpan>, names: readonly string[]): void {
  for (const [index, name] of names.entries()) {
    const span = spans.get(name)!;
    expect(span.endUs, name).toBeGreaterThanOrEqual(span.startUs);
    const parent = spans.get(names[index - 1] ?? "");
    if (parent === undefined) continue;
    expect(span.parentSpanId, name).toBe(parent.spanId);
    expect(span.startUs, name).toBeGreaterThanOrEqual(parent.startUs - STEP_US);
  }
}

it("follows an inference from the caller to the device, as one trace", async () => {
  const { caller, status } = await send("/v1/infer", body);
  expect(status).toBe(200);
  const request = "POST /v1/infer";
  const expected = [request, "admission", "link", "infer", "queue", "batch", "upload", "compute", "readback"];
  const spans = await spansOf(caller.traceId, expected);
  expect(spans.get(request)?.parentSpanId).toBe(caller.parentId);
  expectNested(spans, [request, "admission"]);
  for (const part of ["upload", "compute", "readback"]) expectNested(spans, [request, "link", "infer", "batch", part]);
  expectNested(spans, ["infer", "queue"]);
  const [queue, upload, compute, readback] = ["queue", "upload", "compute", "readback"].map((name) => spans.get(name)!);
  for (const [before, after] of [
    [queue, upload],
    [upload, compute],
    [compute, readback],
  ])
    expect(after?.startUs).toBeGreaterThanOrEqual((before?.endUs ?? Infinity) - 1);
  // The answer leaves the runner before the edge has it.
  expect(spans.get("link")!.endUs + STEP_US).toBeGreaterThanOrEqual(spans.get("infer")!.endUs);
  expect([...spans.values()].map(({ error }) => error)).toEqual([...spans.values()].map(() => undefined));
  const services = (names: readonly string[]) => new Set(names.map((name) => spans.get(name)?.service));
  expect(services([request, "admission", "link"])).toEqual(new Set(["millrace-edge"]));
  expect(services(["infer", "queue", "batch", "compute"])).toEqual(new Set(["millrace-runner"]));
  expect(spans.get(request)?.attributes).toMatchObject({
    "http.route": "/v1/infer",
    "http.response.status_code": 200,
    "millrace.clock": "edge-wall",
  });
  expect(spans.get("link")?.attributes).toMatchObject({ "millrace.runner": stack.runnerId });
  expect(spans.get("infer")?.attributes).toMatchObject({ "millrace.clock": "runner-wall" });
});

it("follows a job from its submission to the kernel, as one trace", async () => {
  const job = JSON.stringify({ kind: "benchmark", kernel: "triad", shape: { n: 256 } });
  const { caller, status, json } = await send("/v1/jobs", job);
  expect(status).toBe(202);
  await waitForJob(stack, json.id, ["succeeded"]);
  const request = "POST /v1/jobs";
  const spans = await spansOf(caller.traceId, [request, "queue", "offer", "lease", "benchmark", "kernel"]);
  expect(spans.get(request)?.parentSpanId).toBe(caller.parentId);
  expectNested(spans, [request, "queue"]);
  expectNested(spans, [request, "offer", "lease", "benchmark", "kernel"]);
  expect(spans.get("kernel")?.attributes).toMatchObject({ "millrace.kernel": "triad" });
  expect(spans.get("lease")?.attributes).toMatchObject({ "millrace.job": json.id, "millrace.attempt": 1 });
});

it("sends nothing of a trace that its caller does not sample, and its headers with the rest", async () => {
  const { caller: silent } = await send("/v1/infer", body, false);
  const { caller: told } = await send("/v1/infer", body);
  await spansOf(told.traceId, ["POST /v1/infer", "readback"]);
  expect(collector.spans.filter(({ traceId }) => traceId === silent.traceId)).toEqual([]);
  await waitFor("an export of the edge", async () => {
    await send("/v1/infer", body);
    return collector.headers()["x-team"] === "edge team" ? true : undefined;
  });
  expect(collector.faults).toEqual([]);
});

it("answers as ever while the collector refuses or is silent, drops those spans, and goes on when it is back", async () => {
  for (const how of ["refusing", "silent"] as const) {
    collector.behave(how);
    const before = collector.exports();
    const { status } = await send("/v1/infer", body);
    expect(status).toBe(200);
    await waitFor(`an export to a collector that is ${how}`, async () =>
      collector.exports() > before ? true : undefined,
    );
    expect((await send("/v1/infer", body)).status).toBe(200);
  }
  collector.behave("well");
  await waitFor("dropped spans to be counted", async () => {
    const dropped = valueOf(await scrapeRunner(), "millrace_runner_spans_dropped_total") ?? 0;
    return dropped > 0 ? true : undefined;
  });
  const sent = new Set<string>();
  await waitFor("spans of edge and runner to come again", async () => {
    sent.add((await send("/v1/infer", body)).caller.traceId);
    const seen = new Set(collector.spans.filter(({ traceId }) => sent.has(traceId)).map(({ name }) => name));
    return seen.has("POST /v1/infer") && seen.has("readback") ? true : undefined;
  });
  expect(collector.faults).toEqual([]);
});

it("tells metrics of runner and edge that a strict reader takes", async () => {
  const runner = await scrapeRunner();
  expect(valueOf(runner, "millrace_runner_build_info", { runner: stack.runnerId })).toBe(1);
  expect(valueOf(runner, "millrace_runner_requests_total", { device: "cpu" })).toBeGreaterThan(0);
  expect(valueOf(runner, "millrace_runner_kernel_runs_total", { outcome: "done" })).toBeGreaterThan(0);
  expect(valueOf(runner, "millrace_runner_jobs_ended_total", { kind: "benchmark", outcome: "done" })).toBe(1);
  expect(valueOf(runner, "process_resident_memory_bytes")).toBeGreaterThan(0);
  expect(valueOf(runner, "millrace_runner_tier_capacity_bytes", { tier: "disk" })).toBeGreaterThan(0);
  const later = await scrapeRunner();
  for (const [name, { type, samples }] of runner) {
    if (type !== "counter") continue;
    for (const { labels, value } of samples) expect(valueOf(later, name, labels), name).toBeGreaterThanOrEqual(value);
  }
  const edge = await waitFor("the edge to count requests", async () => {
    const { status } = await stack.client.call(endpoints.getHealth);
    expect(status).toBe("ok");
    const families = await scrape(`${stack.baseUrl}/metrics`, { authorization: `Bearer ${stack.adminKey}` });
    return (valueOf(families, "millrace_inference_answered_total") ?? 0) > 5 ? families : undefined;
  });
  expect(valueOf(edge, "millrace_runners", { state: "online" })).toBe(1);
  expect(valueOf(edge, "millrace_jobs_ended_total", { kind: "benchmark", state: "succeeded" })).toBe(1);
});

it("serves nothing else where the runner is scraped", async () => {
  const url = await metricsUrl();
  expect((await fetch(new URL("/", url))).status).toBe(404);
  const wrong = await fetch(url, { method: "POST" });
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get("allow")).toBe("GET");
  const open = await fetch(url, { headers: { accept: "application/openmetrics-text" } });
  expect(open.headers.get("content-type")).toContain("openmetrics-text");
  expect(parseMetrics(await open.text()).get("millrace_runner_jobs_ended")?.type).toBe("counter");
});

async function scrape(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(url, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return parseMetrics(await response.text());
}

async function scrapeRunner() {
  return scrape(await metricsUrl());
}

/** The port is any free one: the runner's log tells which. */
async function metricsUrl(): Promise<string> {
  const log = await readFile(join(stack.dataDir, "runner.log"), "utf8");
  const told = /"url":"([^"]+\/metrics)"/.exec(log)?.[1];
  if (told === undefined) throw new Error("the log tells no address of metrics");
  return told;
}
