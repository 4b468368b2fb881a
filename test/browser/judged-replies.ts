import type { Page, Route } from "playwright-core";
import { curvePlot } from "../../src/edge/kinds/validation/curve-plot.ts";
import { drawPlot } from "../../src/edge/plots/draw-plot.ts";
import { frontPlot } from "../../src/edge/kinds/optimisation/front-plot.ts";
import { sweepPlot } from "../../src/edge/models/sweep/sweep-plots.ts";
import { analyseSweep } from "../../src/edge/models/sweep/analyse-sweep.ts";
import { type Diagnosis, type DiagnosisCheck, type LiveEvent, LiveReport } from "../../src/protocol/fleet/health.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import { type JobResult, JobSpec, JobSummary } from "../../src/protocol/jobs/job.ts";
import type { Model } from "../../src/protocol/models/model.ts";
import { PlotLook } from "../../src/protocol/models/plot-endpoints.ts";
import type { ProfileFit, RunnerFit } from "../../src/protocol/fleet/profile.ts";
import type { MeasuredBatches, Runner } from "../../src/protocol/fleet/runner.ts";
import type { PlacementSweep, Trade, TradedPlacement } from "../../src/protocol/models/trade-offs.ts";
import { summarise } from "../../src/stats/distribution/distribution.ts";
import { report, sensor } from "../edge/stack/health-samples.ts";
import { capabilities, memoryReport } from "../edge/stack/samples.ts";
import { infeasibleResult, optimisationResult, validationResult } from "../edge/stack/validation-samples.ts";

/** What a watcher of the runner gets now: a temperature that rises to where it slows itself down. */
const tellLive = () =>
  [70, 84, 96]
    .map((temperatureC, second): LiveEvent => {
      const sensors = [sensor({ temperatureC, limitC: 96, clockMhz: 4_000 - 20 * temperatureC })];
      const at = new Date(Date.now() + second * 1_000).toISOString();
      return { type: "report", report: LiveReport.parse(report(0, { at, spanMs: 1_000, sensors })) };
    })
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");

/** What an edge answers of validations and a diagnosis, without a runner that would take minutes for them. */

const AT = new Date(Date.now() - 3_600_000).toISOString();
const subject = { kind: "model", model: "lenet5" };
const targets = { latencyMs: 10, throughputPerS: 1_000 };
const page = (items: readonly unknown[]) => ({ items, nextCursor: null });

export interface JudgedRun {
  readonly id: string;
  readonly job: JobSummary;
  readonly result: JobResult;
}

function judged(result: JobResult, spec: object, verdict: JobSummary["verdict"], agoMs: number): JudgedRun {
  const jobId = createId("job", Date.now() - agoMs);
  const id = jobId.replace("job_", "run_");
  const createdAt = new Date(Date.now() - agoMs).toISOString();
  const job = JobSummary.parse({
    id: jobId,
    state: "succeeded",
    spec: JobSpec.parse({ kind: result.kind, subject, ...spec }),
    attempt: 1,
    maxAttempts: 3,
    runnerId: null,
    runId: id,
    progress: null,
    problem: null,
    createdAt,
    startedAt: createdAt,
    endedAt: createdAt,
    verdict,
  });
  return { id, job, result };
}

const scenarios = [{ kind: "singleStream" }, { kind: "server", boundMs: 10 }];
const requirements = validationResult().verdicts.map(({ requirement }) => requirement);
export const validation = judged(validationResult(), { scenarios, requirements }, "fail", 1_000);
export const optimisation = judged(
  optimisationResult(),
  { targets, objective: "throughput", space: {} },
  "pass",
  2_000,
);
export const infeasible = judged(
  infeasibleResult(),
  { targets: infeasibleResult().targets, objective: "throughput", space: {} },
  "fail",
  3_000,
);
const judgements: readonly JudgedRun[] = [validation, optimisation, infeasible];

const fits: ProfileFit[] = [
  {
    profile: "gpu-accelerated",
    fits: false,
    deviceKey: null,
    checks: [
      {
        requirement: "software",
        wanted: "a hardware device",
        found: "a software device",
        ok: false,
        mend: "install the driver of a real GPU",
      },
      { requirement: "logical cores", wanted: "at least 2", found: "4", ok: true, mend: null },
    ],
  },
];

export const runner: Runner = {
  id: createId("runner"),
  name: "sample",
  state: "online",
  shared: false,
  owned: true,
  ephemeral: false,
  quarantine: null,
  labels: {},
  capabilities,
  profiles: fits,
  version: 1,
  createdAt: AT,
  connectedAt: AT,
  lastSeenAt: AT,
};

/** The same with a target that what is measured misses, and one that nothing tells of. */
const fit: RunnerFit = {
  ...fits[0]!,
  runnerId: runner.id,
  reaches: false,
  targets: [
    {
      target: "latencyMs",
      placementId: createId("placement"),
      subject: "lenet5@1 fp32 on cpu by ort-cpu",
      wanted: 3,
      measured: 4.2,
      found: "p50 4.2 ms",
      ok: false,
      mend: "serve a smaller variant",
    },
    {
      target: "throughputRps",
      placementId: null,
      subject: null,
      wanted: 5_000,
      measured: null,
      found: "not measured",
      ok: null,
      mend: null,
    },
  ],
};

const check = (changes: Partial<DiagnosisCheck>): DiagnosisCheck => ({
  check: "utilisation",
  deviceKey: "cpu",
  placementId: null,
  measured: 0.42,
  limit: 0.2,
  unit: "share of the time",
  outcome: "pass",
  detail: "It computes for 42 % of the time in which requests wait.",
  advice: "Raise maxRows.",
  ...changes,
});

export const diagnosis = {
  runnerId: runner.id,
  online: true,
  reportedAt: AT,
  fresh: true,
  healthy: false,
  checks: [
    check({}),
    check({
      check: "occupancy",
      deviceKey: "gpu0",
      measured: null,
      limit: null,
      outcome: "unknown",
      detail: "No kernel ran.",
    }),
    check({
      check: "hostLoad",
      deviceKey: null,
      measured: 0.91,
      limit: 0.5,
      unit: "share of the cores",
      outcome: "fail",
      detail: "Other processes take 91 % of the cores.",
      advice: "Stop what else runs there, or lower threads.",
    }),
    check({ check: "memoryGrowth", deviceKey: null, measured: 2_000_000, limit: null, unit: "bytes per hour" }),
  ],
  findings: [
    {
      kind: "host-contention",
      runnerId: runner.id,
      deviceKey: null,
      placementId: null,
      subject: null,
      cause: null,
      measured: 0.91,
      expected: 0.5,
      unit: "share of the cores",
      detail: "Other processes take 91 % of the cores, and probes are 3.1 times as slow.",
      advice: "Stop what else runs there, or lower threads.",
      since: AT,
      at: AT,
    },
  ],
  report: {
    at: AT,
    startedAt: AT,
    spanMs: 10_000,
    jobShare: 0,
    host: {
      logicalCores: 4,
      loadAverage: 3.9,
      busyShare: 0.97,
      ownShare: 0.06,
      freeBytes: 1e9,
      memoryBytes: 8e9,
      ownRssBytes: 3e8,
      eventLoopLagMs: 4,
    },
    sensors: [],
    devices: [],
    placements: [],
    memory: { pageOuts: 0, migrationBytes: 0 },
  },
} as Diagnosis;

const steps = [1, 2, 4, 8, 16].map((rows) => ({ rows, serviceMs: summarise([3 + rows]) }));
const memory = { baseBytes: 5e7, bytesPerRow: 1e6 };
const place = { backend: "ort-cpu", runnerId: runner.id, deviceKey: "cpu", software: false } as const;
const budget = { budgetBytes: 6e7, of: "asked", share: null } as const;

/** The batch sizes of the second of two variants. */
export const sweep: PlacementSweep = {
  placementId: createId("placement"),
  model: "lenet5",
  version: 1,
  variant: "int8",
  ...place,
  ...analyseSweep(steps, memory, { budget }),
};

const traded: TradedPlacement = {
  placementId: createId("placement"),
  variant: "fp32",
  ...place,
  state: "eligible",
  fidelity: 1,
  sizeBytes: 178_000,
  p50Ms: 4,
  p99Ms: 4.6,
  bestRowsPerS: 842,
  bestRows: 16,
  memoryBytes: 5.1e7,
  latencyGain: 1,
  throughputGain: 1,
  front: true,
};
const faster = { placementId: sweep.placementId, variant: "int8", fidelity: 0.97, p50Ms: 2, latencyGain: 2 };
const trade: Trade = { model: "lenet5", version: 1, items: [traded, { ...traded, ...faster, throughputGain: 1.5 }] };
const lenet5: Model = {
  id: createId("model"),
  name: "lenet5",
  placement: { kind: "automatic" },
  createdAt: AT,
  versions: [],
};

/** As calibrations of the runner measured them. */
const batches: readonly MeasuredBatches[] = [
  {
    deviceKey: "cpu",
    placementId: sweep.placementId,
    subject: "lenet5@1 int8 on cpu by ort-cpu",
    batches: [
      { rows: 1, medianMs: 2, rowsPerSecond: 500, memoryBytes: 21 * 2 ** 20 },
      { rows: 8, medianMs: 9.5, rowsPerSecond: 842, memoryBytes: null },
    ],
  },
];

/** Answers what the page asks about them; everything else goes to the edge. */
export async function answerJudged(to: Page): Promise<void> {
  await to.route(/\/v1\/jobs\?.*kind=(validation|optimisation)/, (route) => {
    const kind = new URL(route.request().url()).searchParams.get("kind");
    return route.fulfill({ json: page(judgements.map(({ job }) => job).filter(({ spec }) => spec.kind === kind)) });
  });
  for (const { id, job, result } of judgements) {
    const run = { origin: "job", id, jobId: job.id, attempt: 1, runnerId: runner.id, deviceKey: "cpu" };
    const times = { startedAt: job.createdAt, endedAt: job.createdAt, traceBytes: null, samplesBytes: null };
    await to.route(`**/v1/runs/${id}`, (route) =>
      route.fulfill({ json: { ...run, ...times, spec: job.spec, result } }),
    );
    await to.route(`**/v1/runs/${id}/plots/*`, (route) =>
      route.fulfill({ contentType: "image/svg+xml", body: plotOf(result, lookOf(route)) }),
    );
  }
  await to.route(/\/v1\/models(\?.*)?$/, (route) => route.fulfill({ json: page([lenet5]) }));
  await to.route("**/v1/models/lenet5/trade", (route) => route.fulfill({ json: trade }));
  await to.route(`**/v1/placements/${sweep.placementId}/sweep`, (route) => route.fulfill({ json: sweep }));
  await to.route(`**/v1/placements/${sweep.placementId}/plots/*`, (route) =>
    route.fulfill({ contentType: "image/svg+xml", body: drawPlot(sweepPlot(sweep, undefined), lookOf(route)) }),
  );
  await to.route(/\/v1\/runners(\?.*)?$/, (route) => route.fulfill({ json: page([runner]) }));
  await to.route(`**/v1/runners/${runner.id}`, (route) => route.fulfill({ json: { ...runner, batches } }));
  await to.route(`**/v1/runners/${runner.id}/fit?profile=gpu-accelerated`, (route) => route.fulfill({ json: fit }));
  await to.route(`**/v1/runners/${runner.id}/memory`, (route) =>
    route.fulfill({ json: { ...memoryReport, runnerId: runner.id, reportedAt: AT } }),
  );
  // It ends at once, and the page asks again after a while.
  await to.route(`**/v1/runners/${runner.id}/live`, (route) =>
    route.fulfill({ contentType: "text/event-stream", body: tellLive() }),
  );
  await to.route(`**/v1/runners/${runner.id}/diagnosis`, (route) => route.fulfill({ json: diagnosis }));
}

function lookOf(route: Route): PlotLook {
  const { searchParams } = new URL(route.request().url());
  return PlotLook.parse({ theme: searchParams.get("theme"), width: searchParams.get("width") });
}

function plotOf(result: JobResult, look: PlotLook): string {
  const server = result.kind === "validation" ? result.scenarios.find((each) => each.server !== null) : undefined;
  if (server?.server != null) return drawPlot(curvePlot("lenet5", server, server.server), look);
  const front = result.kind === "optimisation" ? frontPlot("lenet5", result) : null;
  if (front === null) throw new Error("this result has no plot");
  return drawPlot(front, look);
}
