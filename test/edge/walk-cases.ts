import type { Endpoint } from "../../src/protocol/endpoint.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { oipEndpoints } from "../../src/protocol/oip-endpoints.ts";
import { missingId } from "./edge-client.ts";

/**
 * A request that is well-formed and yet has no effect: its ids are of nothing. Every field of `body`
 * and `query` is walked; `unknown` is the status of the request as it stands.
 */
export interface WalkCase {
  readonly path: string;
  readonly query?: Record<string, string>;
  readonly body?: unknown;
  readonly mediaType?: string;
  readonly unknown?: number | readonly number[];
}

const selector = {
  series: [missingId.series],
  subject: "gemm",
  subjectKind: "kernel",
  metric: "gpuMs",
  unit: "ms",
  clock: "gpu-timestamp",
  label: "main",
  fingerprint: missingId.fingerprint,
  software: false,
  variant: "tiled",
  backend: "wgsl",
  batch: 8,
  configuration: { m: 256, dtype: "float32" },
};

const threshold = {
  name: "mine",
  selector,
  test: "t-test",
  lower: 0.98,
  upper: 0.98,
  statistic: "p95",
  windowPoints: 30,
  minSample: 6,
  noiseFloor: 0.02,
  minimumEffect: 0.01,
  consecutive: 2,
};

/** The Open Inference Protocol has its own shape of errors and its own tests. */
type Walked = Exclude<keyof typeof endpoints, keyof typeof oipEndpoints>;

export const walkCases: Record<Walked, WalkCase> = {
  getHealth: { path: "/v1/health" },
  streamEvents: { path: "/v1/events" },
  createKey: { path: "/v1/keys", body: { name: "mine", scopes: ["read"] } },
  listKeys: { path: "/v1/keys" },
  revokeKey: { path: `/v1/keys/${missingId.key}`, unknown: 404 },
  createRegistrationToken: { path: "/v1/runners/tokens", body: { ttlMs: 1_000 } },
  registerRunner: {
    path: "/v1/runners",
    body: { token: "mt_unknown", name: "mine", labels: { site: "lab" } },
    unknown: 401,
  },
  listRunners: { path: "/v1/runners" },
  getRunner: { path: `/v1/runners/${missingId.runner}`, unknown: 404 },
  getRunnerMemory: { path: `/v1/runners/${missingId.runner}/memory`, unknown: 404 },
  drainRunner: { path: `/v1/runners/${missingId.runner}/drain`, unknown: 404 },
  resumeRunner: { path: `/v1/runners/${missingId.runner}/resume`, unknown: 404 },
  rotateCredential: { path: `/v1/runners/${missingId.runner}/rotate`, unknown: 404 },
  removeRunner: { path: `/v1/runners/${missingId.runner}`, unknown: 404 },
  connectRunner: { path: "/v1/link", unknown: 401 },
  downloadArtifact: { path: `/v1/artifacts/sha256:${"0".repeat(64)}`, unknown: 401 },
  runAtEdge: { path: "/v1/link/edge-runs", unknown: 401 },
  createProfile: {
    path: "/v1/profiles",
    body: {
      name: "mine",
      description: "a profile",
      requirements: {
        device: "gpu",
        allowSoftware: false,
        minLogicalCores: 2,
        minMemoryBytes: 1_024,
        features: ["f16"],
      },
      targets: { latencyMs: 5, percentile: 0.5, throughputRps: 10, memoryBytes: 1_024 },
      settings: { backends: ["wgsl"], precision: "fp16", maxBatch: 8 },
    },
  },
  listProfiles: { path: "/v1/profiles" },
  getProfile: { path: "/v1/profiles/nobody", unknown: 404 },
  updateProfile: {
    path: "/v1/profiles/nobody",
    body: { description: "a profile", requirements: {}, targets: {}, settings: {} },
    unknown: 404,
  },
  deleteProfile: { path: "/v1/profiles/nobody", unknown: 404 },
  uploadVariant: {
    path: "/v1/models/absent/versions/1/variants",
    query: { name: "int8" },
    body: new Uint8Array([8, 9, 58, 0]),
    mediaType: "application/octet-stream",
    unknown: 422,
  },
  uploadModel: {
    path: "/v1/models",
    query: { name: "mine" },
    body: new Uint8Array([8, 9, 58, 0]),
    mediaType: "application/octet-stream",
    unknown: 422,
  },
  listModels: { path: "/v1/models" },
  getModel: { path: "/v1/models/nobody", unknown: 404 },
  setPlacement: { path: "/v1/models/nobody/placement", body: { kind: "profile", profile: "balanced" }, unknown: 404 },
  listPlacements: { path: "/v1/models/nobody/placements", unknown: 404 },
  infer: {
    path: "/v1/infer",
    body: {
      model: "nobody",
      budgetMs: 50,
      confidence: 0.9,
      runnerId: missingId.runner,
      inputs: { x: { dtype: "float32", shape: [1, 2], data: [[1, 2]] } },
    },
    unknown: 404,
  },
  createTicket: { path: "/v1/tickets", body: { model: "nobody", budgetMs: 50, confidence: 0.9 }, unknown: 404 },
  actPolicy: {
    path: "/v1/policies/nobody/act",
    body: {
      observation: [1, 2],
      budgetMs: 50,
      confidence: 0.9,
      runnerId: missingId.runner,
      action: "sample",
      seed: 3,
    },
    unknown: 404,
  },
  streamPolicy: { path: "/v1/policies/nobody/stream", query: { budgetMs: "50" }, unknown: 400 },
  createJob: {
    path: "/v1/jobs",
    body: {
      kind: "benchmark",
      kernel: "nobody",
      shape: { n: 4 },
      dtype: "float32",
      variant: "plain",
      axes: { lanes: 64 },
      tuned: true,
      warmup: 1,
      iterations: 2,
      seed: 3,
      timeoutMs: 1_000,
      trace: true,
      runnerId: missingId.runner,
      profile: "nobody",
      label: "main",
    },
    unknown: 422,
  },
  listJobs: { path: "/v1/jobs" },
  getJob: { path: `/v1/jobs/${missingId.job}`, unknown: 404 },
  streamJobEvents: { path: `/v1/jobs/${missingId.job}/events`, unknown: 404 },
  cancelJob: { path: `/v1/jobs/${missingId.job}/cancel`, unknown: 404 },
  getRun: { path: `/v1/runs/${missingId.run}`, unknown: 404 },
  getRunTrace: { path: `/v1/runs/${missingId.run}/trace`, unknown: 404 },
  getRunSamples: { path: `/v1/runs/${missingId.run}/samples`, unknown: 404 },
  reportPoints: {
    path: "/v1/history/points",
    body: {
      run: "mine",
      at: "2026-11-21T09:30:00Z",
      label: "main",
      revision: "0123abc",
      host: { cpu: "Sample CPU", adapter: "sample", driver: "1", dawn: "1", toggles: ["a"], ort: "1" },
      software: true,
      measurements: [
        {
          subject: "sum",
          subjectKind: "benchmark",
          metric: "wallMs",
          unit: "ms",
          direction: "lower",
          clock: "runner-wall",
          configuration: { size: "large" },
          label: "main",
          at: "2026-11-21T09:30:00Z",
          values: [1, 2, 3],
        },
        { subject: "sum", metric: "bytes", unit: "B", value: 1 },
        {
          subject: "sum",
          metric: "cpuMs",
          unit: "ms",
          aggregate: { count: 2, min: 1, max: 3, sum: 4, percentiles: { p50: 2 } },
        },
      ],
    },
  },
  listSeries: { path: "/v1/history/series" },
  getSeries: { path: `/v1/history/series/${missingId.series}`, unknown: 404 },
  getSeriesNoise: { path: `/v1/history/series/${missingId.series}/noise`, unknown: 404 },
  muteSeries: { path: `/v1/history/series/${missingId.series}/mute`, unknown: 404 },
  unmuteSeries: { path: `/v1/history/series/${missingId.series}/unmute`, unknown: 404 },
  createThreshold: { path: "/v1/history/thresholds", body: threshold },
  testThreshold: {
    path: "/v1/history/thresholds/test",
    body: { threshold, series: missingId.series },
    unknown: 404,
  },
  listThresholds: { path: "/v1/history/thresholds" },
  getThreshold: { path: `/v1/history/thresholds/${missingId.threshold}`, unknown: 404 },
  updateThreshold: { path: `/v1/history/thresholds/${missingId.threshold}`, body: threshold, unknown: 404 },
  deleteThreshold: { path: `/v1/history/thresholds/${missingId.threshold}`, unknown: 404 },
  detectChanges: {
    path: "/v1/history/detections",
    body: {
      selector,
      parameters: { windowPoints: 50, maxP: 0.001, minMagnitude: 0.02, minSegment: 4 },
      dryRun: true,
    },
  },
  listChanges: { path: "/v1/history/changes", query: { series: missingId.series }, unknown: 404 },
  listAlerts: { path: "/v1/history/alerts" },
  getAlert: { path: `/v1/history/alerts/${missingId.alert}`, unknown: 404 },
  changeAlert: {
    path: `/v1/history/alerts/${missingId.alert}/acknowledge`,
    body: { note: "seen" },
    unknown: 404,
  },
  listPoints: { path: "/v1/history/points", query: { series: missingId.series }, unknown: 404 },
  queryHistory: { path: "/v1/history/query" },
  readHeatmap: { path: "/v1/history/heatmap" },
  readScaling: { path: "/v1/history/scaling" },
  readHistoryLeaderboard: { path: "/v1/history/leaderboard", query: { subject: "nobody" } },
  readPredictionCalibration: { path: "/v1/history/calibration" },
  compareSeries: { path: "/v1/history/compare", query: { a: "label:nobody", b: `run:${missingId.run}` } },
  listBaselines: { path: "/v1/history/baselines" },
  getBaseline: { path: "/v1/history/baselines/nobody", unknown: 404 },
  pinBaseline: {
    path: "/v1/history/baselines/mine",
    body: {
      label: "main",
      window: { from: "2026-01-01T00:00:00Z", to: "2026-02-01T00:00:00Z" },
      selection: { subject: "gemm", subjectKind: "kernel", metric: "wallMs", variant: "plain", backend: "wgsl" },
    },
  },
  deleteBaseline: { path: "/v1/history/baselines/nobody", unknown: 404 },
  createWebhook: {
    path: "/v1/webhooks",
    body: { url: "https://hooks.test/millrace", events: ["alert.opened"], direction: "regression" },
  },
  listWebhooks: { path: "/v1/webhooks" },
  deleteWebhook: { path: `/v1/webhooks/${missingId.webhook}`, unknown: 404 },
  pingWebhook: { path: `/v1/webhooks/${missingId.webhook}/ping`, unknown: 404 },
  listDeliveries: { path: `/v1/webhooks/${missingId.webhook}/deliveries`, unknown: 404 },
  submitKernel: {
    path: "/v1/kernels",
    body: {
      name: "mine",
      description: "a kernel",
      wgsl: "@compute @workgroup_size(1) fn main() {}",
      passes: [{ entryPoint: "main", workgroups: [{ ceilDiv: ["n", 64] }, 1] }],
      constants: { lanes: 64 },
      dimensions: [{ name: "n", description: "elements", min: 1, max: 64, default: 8 }],
      bindings: [
        { name: "a", dtype: "float32", access: "read", extents: ["n", 2], alignment: [1, 4] },
        { name: "b", dtype: "float32", access: "write", extents: ["n"] },
      ],
      limits: { timeoutMs: 1_000, maxBytes: 4_096 },
      reference: { kind: "kernel", kernel: "nobody" },
    },
    unknown: 422,
  },
  listTunings: { path: "/v1/tunings" },
  getTuning: { path: `/v1/tunings/${missingId.tuning}`, unknown: 404 },
  fetchTuning: { path: `/v1/link/tunings/${missingId.tuning}`, unknown: 401 },
  listKernels: { path: "/v1/kernels" },
  getKernel: { path: `/v1/kernels/${missingId.kernel}`, unknown: 404 },
  deleteKernel: { path: `/v1/kernels/${missingId.kernel}`, unknown: 404 },
  getLeaderboard: { path: "/v1/kernels/nobody/leaderboard", unknown: 404 },
};

/** The endpoints of the table with their cases; one without a case fails by name. */
export function listWalk(): { name: string; endpoint: Endpoint; sample: WalkCase }[] {
  const walked = Object.entries<Endpoint>(endpoints as never).filter(([name]) => !(name in oipEndpoints));
  return walked.map(([name, endpoint]) => {
    const sample = (walkCases as Record<string, WalkCase | undefined>)[name];
    if (sample === undefined) throw new Error(`the endpoint ${name} has no case in walk-cases.ts`);
    return { name, endpoint, sample };
  });
}
