import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RefusedRequest, RequestOutcome } from "../../../src/edge/history/request-measurements.ts";
import { rollUp } from "../../../src/edge/history/rollup/roll-up.ts";
import { forgetMetrics } from "../../../src/edge/metrics/collect-metrics.ts";
import { JobStore } from "../../../src/edge/queue/job-store.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import { type ParsedFamily, parseMetrics, valueOf } from "../stack/parse-metrics.ts";
import { callEdge, createKey, fetchEdge, problemOf } from "../stack/edge-client.ts";
import { device, MiB, report, sensor } from "../stack/health-samples.ts";
import { linkStub, newOnlineRunner, newRunner, queueStub, submitJob } from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { capabilities } from "../stack/samples.ts";

beforeEach(forgetMetrics);
afterEach(() => vi.restoreAllMocks());

async function scrape(): Promise<Map<string, ParsedFamily>> {
  forgetMetrics();
  const response = await fetchEdge("GET", "/metrics");
  expect(response.status).toBe(200);
  return parseMetrics(await response.text());
}

function outcome(told: Partial<RequestOutcome> & Pick<RequestOutcome, "subject">): RequestOutcome {
  return {
    project: MAIN_PROJECT,
    variant: "fp32",
    backend: "ort-cpu",
    batch: 1,
    software: false,
    fingerprint: capabilities.devices[0]!.fingerprint,
    totalMs: 4,
    rows: 1,
    split: { totalMs: 4, edgeMs: 0.5, linkMs: 1, queueMs: 0.25, uploadMs: 0.25, computeMs: 1.5, readbackMs: 0.5 },
    forecast: { placementId: "plc_01jzzzzzzzzzzzzzzzzzzzzzzz", confidence: 0.99, inTime: true, asPredicted: true },
    ...told,
  };
}

/** Passes outcomes to a link and waits until the database has them. */
async function record(name: string, outcomes: (RequestOutcome | RefusedRequest)[]): Promise<void> {
  await linkStub(name).record(outcomes);
  await vi.waitFor(async () => {
    const { outbox } = await linkStub(name).tellState();
    expect(outbox.rows).toBe(0);
  }, BOUND);
}

describe("the metrics", () => {
  it("come as Prometheus' text, or as OpenMetrics where that is preferred", async () => {
    const plain = await fetchEdge("GET", "/metrics");
    expect(plain.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(plain.headers.get("cache-control")).toBe("no-store");
    const families = parseMetrics(await plain.text());
    expect(valueOf(families, "millrace_build_info", { version: "0.1.0" })).toBe(1);
    const open = await fetchEdge("GET", "/metrics", { headers: { accept: "application/openmetrics-text" } });
    expect(open.headers.get("content-type")).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
    const text = new TextDecoder().decode(await open.arrayBuffer());
    expect(text.endsWith("# EOF\n")).toBe(true);
    expect(parseMetrics(text).get("millrace_jobs_ended")?.type).toBe("counter");
  });

  it("are for a key that may read, and for no other", async () => {
    const { secret: reader } = await createKey(["read"]);
    expect((await fetchEdge("GET", "/metrics", { key: reader })).status).toBe(200);
    expect(problemOf(await callEdge("GET", "/metrics", { key: null })).code).toBe("unauthorized");
    const { secret: caller } = await createKey(["infer"]);
    expect((await callEdge("POST", "/metrics")).status).toBe(405);
    const refused = await callEdge("GET", "/metrics", { key: caller });
    expect(refused.status).toBe(403);
    expect(problemOf(refused).errors?.[0]?.pointer).toBe("header/authorization");
  });

  it("are read once for scrapes that come together", async () => {
    vi.spyOn(Date, "now").mockReturnValue(Date.now());
    await fetchEdge("GET", "/metrics");
    const reading = vi.spyOn(env.DB, "batch");
    expect((await fetchEdge("GET", "/metrics")).status).toBe(200);
    expect(reading).not.toHaveBeenCalled();
  });

  it("have a bound: series beyond it are left out and counted", async () => {
    const subjects = Array.from({ length: LIMITS.metricSeries + 3 }, (_, index) => `bounded-${index}@1`);
    await record(
      "bounded",
      subjects.map((subject) => ({ project: MAIN_PROJECT, subject, refusedFor: "overloaded" as const })),
    );
    const families = await scrape();
    expect(families.get("millrace_inference_unanswered_total")?.samples).toHaveLength(LIMITS.metricSeries);
    const dropped = valueOf(families, "millrace_metrics_dropped_series", {
      metric: "millrace_inference_unanswered_total",
    });
    expect(dropped).toBeGreaterThanOrEqual(3);
    expect(valueOf(families, "millrace_metrics_unread_series")).toBe(0);
    await env.DB.batch(
      ["rollups", "points"].map((table) =>
        env.DB.prepare(
          `delete from ${table} where series_no in (select no from series where subject like 'bounded-%')`,
        ),
      ),
    );
  });
});

describe("metrics of requests", () => {
  const subject = 'counted "one"@1';
  const labels = { project: MAIN_PROJECT, model: subject, variant: "fp32", backend: "ort-cpu", hardware: "Sample CPU" };
  const counters = (families: ReadonlyMap<string, ParsedFamily>) => ({
    answered: valueOf(families, "millrace_inference_answered_total", labels),
    lost: valueOf(families, "millrace_inference_lost_total", labels),
    promised: valueOf(families, "millrace_inference_promised_total", labels),
    inBudget: valueOf(families, "millrace_inference_in_budget_total", labels),
    rows: valueOf(families, "millrace_inference_rows_total", labels),
    overloaded: valueOf(families, "millrace_inference_unanswered_total", {
      project: MAIN_PROJECT,
      model: subject,
      reason: "overloaded",
    }),
    late: valueOf(families, "millrace_inference_unanswered_total", {
      project: MAIN_PROJECT,
      model: subject,
      reason: "budget-exceeded",
    }),
  });

  it("count all that ever came, over batches, flushes and rollups, and never fall", async () => {
    const late = outcome({ subject, totalMs: 30, rows: null, split: null });
    const missed = { ...late, forecast: { ...late.forecast!, inTime: false } };
    const outcomes = [
      outcome({ subject }),
      outcome({ subject, batch: 4, rows: 3, totalMs: 7 }),
      outcome({ subject, forecast: null }),
      missed,
      { project: MAIN_PROJECT, subject, refusedFor: "overloaded" as const },
      { project: MAIN_PROJECT, subject, refusedFor: "overloaded" as const },
      { project: MAIN_PROJECT, subject, refusedFor: "budget-exceeded" as const },
    ];
    await record("counted", outcomes);
    const first = await scrape();
    const expected = { answered: 3, lost: 1, promised: 3, inBudget: 2, rows: 5, overloaded: 2, late: 1 };
    expect(counters(first)).toEqual(expected);
    expect(valueOf(first, "millrace_inference_seconds_count", labels)).toBe(4);
    expect(valueOf(first, "millrace_inference_seconds_sum", labels)).toBeCloseTo(0.045, 9);
    for (const [le, count] of [
      ["0.0025", 0],
      ["0.005", 2],
      ["0.01", 3],
      ["0.025", 3],
      ["0.05", 4],
      ["+Inf", 4],
    ] as const)
      expect(valueOf(first, "millrace_inference_seconds_bucket", { ...labels, le }), le).toBe(count);
    expect(valueOf(first, "millrace_inference_part_seconds_count", { ...labels, part: "link" })).toBe(3);
    expect(valueOf(first, "millrace_inference_part_seconds_sum", { ...labels, part: "link" })).toBeCloseTo(0.003, 9);

    while (!(await rollUp(env.DB, 100)).isDone);
    await env.DB.prepare("delete from points where run_id is null").run();
    expect(counters(await scrape())).toEqual(expected);

    await record("counted elsewhere", outcomes);
    const doubled = Object.fromEntries(Object.entries(expected).map(([name, count]) => [name, 2 * count]));
    expect(counters(await scrape())).toEqual(doubled);
  });
});

describe("latencies that are too many to add up", () => {
  it("are left out as a whole, which is reported", async () => {
    const subject = "crowded@1";
    await record("crowded", [outcome({ subject })]);
    const labels = { model: subject };
    expect(valueOf(await scrape(), "millrace_inference_seconds_count", labels)).toBe(1);
    const [no] = (
      await env.DB.prepare("select no from series where subject = ? and metric = 'totalMs'").bind(subject).raw()
    )
      .flat()
      .map(Number);
    await env.DB.prepare(
      `with recursive weeks (n) as (select 1 union all select n + 1 from weeks where n <= ?1)
       insert into rollups (series_no, step_ms, at_ms, count, min, max, sum, sketch)
       select ?2, 2419200000, n * 2419200000, 1, 1, 1, 1, sketch from weeks, (select sketch from points limit 1)`,
    )
      .bind(LIMITS.metricSketches, no)
      .run();
    const crowded = await scrape();
    expect(crowded.get("millrace_inference_seconds")?.samples).toEqual([]);
    expect(valueOf(crowded, "millrace_metrics_without_latencies")).toBe(1);
    expect(valueOf(crowded, "millrace_inference_answered_total", labels)).toBe(1);
    await env.DB.prepare("delete from rollups where series_no = ?").bind(no).run();
    expect(valueOf(await scrape(), "millrace_metrics_without_latencies")).toBe(0);
  });
});

describe("metrics of the fleet", () => {
  it("hold each runner's last report, and only the state of those that are away", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const away = await newRunner();
    const devices = [device({ busyShare: 0.5, waiting: 3, restarts: 2 })];
    const sensors = [sensor({ temperatureC: 61.5, clockMhz: 3_000 })];
    scripted.send({ type: "health", requestId: null, report: report(0, { devices, sensors, placements: [] }) });
    scripted.send({ type: "echo", id: 1 });
    await scripted.next("echoReply");
    const labels = { runner: runnerId, device: "cpu" };
    // A link that does not answer within a second is left out, and a report may wait for the thread.
    const families = await vi.waitFor(async () => {
      const scraped = await scrape();
      expect(valueOf(scraped, "millrace_metrics_silent_links")).toBe(0);
      expect(valueOf(scraped, "millrace_device_busy_ratio", labels)).toBe(0.5);
      return scraped;
    }, BOUND);
    expect(valueOf(families, "millrace_runners", { state: "online" })).toBe(1);
    expect(valueOf(families, "millrace_runners", { state: "registered" })).toBe(1);
    expect(valueOf(families, "millrace_runner_info", { runner: away.runnerId, state: "registered" })).toBe(1);
    expect(valueOf(families, "millrace_devices", { kind: "cpu", software: "false" })).toBe(1);
    expect(valueOf(families, "millrace_device_waiting_requests", labels)).toBe(3);
    expect(valueOf(families, "millrace_device_restarts_total", labels)).toBe(2);
    expect(valueOf(families, "millrace_device_resident_memory_bytes", labels)).toBe(200 * MiB);
    const sensorLabels = { runner: runnerId, sensor: "cpu" };
    expect(valueOf(families, "millrace_sensor_temperature_celsius", sensorLabels)).toBe(61.5);
    expect(valueOf(families, "millrace_sensor_clock_hertz", sensorLabels)).toBe(3e9);
    expect(valueOf(families, "millrace_outbox_rows", { runner: runnerId })).toBe(0);
    expect(valueOf(families, "millrace_device_busy_ratio", { runner: away.runnerId })).toBeUndefined();
  });

  it("leave out the report of a link that fails, and count it", async () => {
    const { runnerId } = await newOnlineRunner();
    const get = env.RUNNER_LINK.get.bind(env.RUNNER_LINK);
    vi.spyOn(env.RUNNER_LINK, "get").mockImplementation((id) => {
      const stub = get(id);
      return new Proxy(stub, {
        get: (target, name) =>
          name === "tellState" ? () => Promise.reject(new Error("moved")) : Reflect.get(target, name),
      });
    });
    const families = await scrape();
    expect(valueOf(families, "millrace_runner_info", { runner: runnerId })).toBe(1);
    expect(valueOf(families, "millrace_metrics_silent_links")).toBe(1);
  });
});

describe("metrics of jobs", () => {
  const ENDED = { kind: "benchmark", state: "cancelled" };

  it("count those that wait with the age of the oldest, and the ended ones also once they are forgotten", async () => {
    const cancelled = async () => valueOf(await scrape(), "millrace_jobs_ended_total", ENDED) ?? 0;
    const before = await cancelled();
    const { runnerId } = await newOnlineRunner();
    await callEdge("POST", `/v1/runners/${runnerId}/drain`);
    const job = await submitJob();
    await submitJob();
    const waiting = { kind: "benchmark", state: "queued" };
    const families = await scrape();
    expect(valueOf(families, "millrace_jobs", waiting)).toBe(2);
    expect(valueOf(families, "millrace_job_oldest_age_seconds", waiting)).toBeGreaterThanOrEqual(0);
    await callEdge("POST", `/v1/jobs/${job.id}/cancel`);
    expect(await cancelled()).toBe(before + 1);
    await runInDurableObject(queueStub(), (_, { storage }) => new JobStore(storage.sql).prune(0, 0));
    expect((await callEdge("GET", `/v1/jobs/${job.id}`)).status).toBe(404);
    expect(await cancelled()).toBe(before + 1);
  });
});
