import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeFleet } from "../../../src/edge/metrics/describe-fleet.ts";
import { describeJobs, describeService } from "../../../src/edge/metrics/describe-service.ts";
import { describeRequests } from "../../../src/edge/metrics/describe-requests.ts";
import { ServingMeter } from "../../../src/gpu-runner/serving/queue/serving-meter.ts";
import { describeRunner } from "../../../src/gpu-runner/watch/describe-runner.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { limitMetrics, type MetricFamily } from "../../../src/telemetry/metric.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { report, sensor } from "../../edge/stack/health-samples.ts";
import { memoryReport } from "../../edge/stack/samples.ts";

const ID = "rnr_01jzzzzzzzzzzzzzzzzzzzzzzz";
const place = { project: "main", model: "sample@1", variant: "fp32", backend: "ort-cpu", hardware: "Sample CPU" };
const METRICS = ["totalMs", "lostMs", "rows", "inTime", "linkMs", "refused.overloaded"];

/** Every metric of the edge, each with a series. */
function edgeMetrics(): MetricFamily[] {
  const told = report(0, { sensors: [sensor({ temperatureC: 50, clockMhz: 3_000 })] });
  const link = { report: told, outbox: { rows: 0, oldestAtMs: null } };
  const devices = [{ kind: "cpu", software: false }] as const;
  const ended = { state: "failed", kind: "tuning", project: null, count: 1, oldestAtMs: null } as const;
  return [
    ...describeService({
      alerts: [{ project: "main", state: "open", direction: "regression", count: 1 }],
      isWithoutSketches: false,
      droppedSeries: 0,
    }),
    ...describeFleet([{ id: ID, name: "sample", state: "online", devices, link }], 0),
    ...describeJobs([ended, { ...ended, state: "queued", project: "main", oldestAtMs: 0 }], 0, 0),
    ...describeRequests({
      sums: METRICS.map((metric) => ({ ...place, metric, count: 1, sum: 1 })),
      sketches: [{ ...place, ...summarise([1]) }],
    }),
  ];
}

function runnerMetrics(): MetricFamily[] {
  const serving = new ServingMeter().total(0);
  const bytes = { cpuMs: 1, rssBytes: 1 };
  const device = { deviceKey: "cpu", kind: "cpu", name: "Sample CPU", software: false, waiting: 0, restarts: 0 };
  return describeRunner({
    version: "1",
    runnerId: ID,
    startedAtMs: 0,
    ...bytes,
    devices: [{ ...device, ...bytes, serving }],
    kernelRuns: [{ deviceKey: "gpu0", ok: true, count: 1 }],
    tiers: memoryReport.tiers,
    migrationBytes: 0,
    jobs: { running: 0, ended: [{ kind: "tuning", ok: true, count: 1 }] },
    probes: { made: 0, failed: 0 },
    droppedSpans: 0,
  });
}

function toRow({ name, type, help, samples }: MetricFamily): string {
  const labels = Object.keys(samples[0]?.labels ?? {}).map((label) => `\`${label}\``);
  return `| \`${name}\` | ${type} | ${labels.join(", ")} | ${help} |`;
}

it("stand in the document as they are reported, each with its type, its labels and its words", async () => {
  const text = await readFile(join(import.meta.dirname, "../../../docs/metrics.md"), "utf8");
  const crowded: MetricFamily = {
    name: "a",
    help: "",
    type: "gauge",
    samples: Array.from({ length: LIMITS.metricSeries + 1 }, () => ({ labels: {}, value: 1 })),
  };
  const dropped = limitMetrics([crowded], LIMITS.metricSeries).slice(1);
  const rows = [...edgeMetrics(), ...dropped, ...runnerMetrics()].map(toRow);
  const told = text.split("\n").filter((line) => /^\| `(millrace|process)_\w+` \|/.test(line));
  expect(told).toEqual(rows);
});
