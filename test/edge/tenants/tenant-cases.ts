import type { endpoints } from "../../../src/protocol/endpoints.ts";
import { encodeFrame } from "../../../src/protocol/wire/frame.ts";
import { FRAME_MEDIA_TYPE } from "../../../src/protocol/inference/inference.ts";
import type { Tensor } from "../../../src/protocol/wire/tensor.ts";
import { dataFile } from "../stack/compression-samples.ts";
import { counter } from "../stack/environment-samples.ts";
import { competitor } from "../stack/kernel-samples.ts";
import { OCTETS } from "./tenant.ts";
import {
  networkFile,
  POPULATION_NETWORK,
  populationFile,
  reportOf,
  type Things,
  thresholdOf,
  TRIAD,
} from "./tenant-things.ts";
import { trainingInput } from "../stack/training-samples.ts";

/** Parameters of an endpoint's path, and the request's content. */
export interface TenantRequest {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Ask = (things: Things) => TenantRequest;

/** Answer to a stranger's request about another project's objects. */
export type TenantCase =
  /** The same answer as for missing objects; the owner gets more. `blind` says why the owner cannot show it here. */
  | { readonly kind: "hidden"; readonly ask: Ask; readonly as?: "runner"; readonly blind?: string }
  /** An object of the stranger's own under the same name, while the owner's stays unchanged. */
  | { readonly kind: "own"; readonly ask: Ask }
  /** A refusal: it is for the operator alone. */
  | { readonly kind: "operators"; readonly ask: Ask }
  /** No project's object, for a reason. */
  | { readonly kind: "open"; readonly ask: Ask; readonly because: string };

const hidden = (ask: Ask = () => ({}), blind?: string): TenantCase => ({
  kind: "hidden",
  ask,
  ...(blind !== undefined && { blind }),
});
const fromRunner = (ask: Ask, blind?: string): TenantCase => ({
  kind: "hidden",
  ask,
  as: "runner",
  ...(blind !== undefined && { blind }),
});
const own = (ask: Ask): TenantCase => ({ kind: "own", ask });
const operators = (ask: Ask = () => ({})): TenantCase => ({ kind: "operators", ask });
const open = (because: string, ask: Ask = () => ({})): TenantCase => ({ kind: "open", ask, because });

const byId = (kind: keyof Things, rest: Omit<TenantRequest, "params"> = {}) =>
  hidden((things) => ({ params: { id: things[kind] }, ...rest }));
const byName = (kind: keyof Things, rest: Omit<TenantRequest, "params"> = {}) =>
  hidden((things) => ({ params: { name: things[kind] }, ...rest }));
const ofModel = (rest: Omit<TenantRequest, "params"> = {}) =>
  hidden(({ model }) => ({ params: { model, version: "1" }, ...rest }));
const ofSubject = (rest: Readonly<Record<string, string>> = {}) =>
  hidden(({ subject }) => ({ query: { subject, ...rest } }));
const job = (ask: (things: Things) => object, blind?: string) => hidden((things) => ({ body: ask(things) }), blind);

/** Too short for any placement: the owner sees that, a stranger sees no model. */
const BUDGET = { budgetMs: 0.1 };
/** A place that no runner is at, and time enough to read which models there are, however busy the machine is. */
const NOWHERE = { budgetMs: 10_000, labels: { site: "nowhere" } };
const inputs = { observation: { data: [[1, 2, 3, 4]] } };
const observation: Tensor = { name: "observation", dtype: "float32", shape: [1, 4], bytes: new Uint8Array(16) };
const oipBody = {
  inputs: [{ name: "observation", shape: [1, 4], datatype: "FP32", data: [1, 2, 3, 4] }],
  parameters: { budget_ms: 0.1 },
};
const required = [{ metric: "latencyMs", percentile: 0.5, atMost: 10 }];
const NO_COMPUTE = "no runner here has the kernels";
const NO_LEASE = "a lease opens it, and nobody holds one of this job";
const transfer: Ask = ({ transfer: id }) => ({ params: { id, table: "profiles" } });

/** A case, or several, for every endpoint of the table; one without fails by type and by test. */
export const tenantCases: Record<keyof typeof endpoints, TenantCase | readonly TenantCase[]> = {
  oipLive: open("shows that the edge answers"),
  oipReady: open("shows that the edge answers"),
  oipServer: open("describes the server"),
  oipModel: ofModel(),
  oipModelVersion: ofModel(),
  oipModelReady: ofModel(),
  oipModelVersionReady: ofModel(),
  oipModelStats: ofModel(),
  oipModelVersionStats: ofModel(),
  oipModelConfig: ofModel(),
  oipModelVersionConfig: ofModel(),
  oipAllStats: hidden(),
  oipIndex: hidden(),
  oipLoad: ofModel(),
  oipUnload: ofModel(),
  oipInfer: ofModel({ body: oipBody }),
  oipVersionInfer: ofModel({ body: oipBody }),
  getHealth: open("shows that the edge answers"),
  readMetrics: operators(),
  streamEvents: open("its events about others are tested below"),

  createProject: operators(() => ({ body: { name: "walnut-branch" } })),
  listProjects: operators(),
  closeProject: operators(() => ({ params: { name: "walnut" } })),
  getProject: open("shows the key's own project, and takes no name"),
  getQuotas: operators(() => ({ params: { name: "walnut" } })),
  setQuotas: operators(() => ({ params: { name: "walnut" }, body: { models: 0 } })),
  createKey: [
    own(() => ({ body: { name: "walnut-key", scopes: ["read"] } })),
    hidden(() => ({ body: { name: "mine", scopes: ["admin"], project: "walnut" } })),
  ],
  listKeys: hidden(),
  revokeKey: byId("key"),
  rotateKey: byId("key", { body: {} }),
  listAuditEntries: hidden(),

  createRegistrationToken: own(() => ({ body: {} })),
  registerRunner: open("the token names the project", () => ({ body: { token: "mt_unknown", name: "walnut-runner" } })),
  listRunners: hidden(),
  getRunner: byId("runner"),
  getRunnerMemory: byId("offline"),
  getRunnerFit: [
    byId("runner", { query: { profile: "balanced" } }),
    hidden(({ runner, profile }) => ({ params: { id: runner }, query: { profile } })),
  ],
  getRunnerDiagnosis: byId("offline"),
  streamRunnerLive: byId("offline"),
  drainRunner: byId("offline"),
  resumeRunner: byId("offline"),
  shareRunner: byId("offline"),
  unshareRunner: byId("offline"),
  rotateCredential: byId("offline"),
  removeRunner: byId("offline"),
  connectRunner: open("its credential names the runner"),
  unregisterRunner: open("its credential names the runner"),
  downloadArtifact: fromRunner(({ modelDigest }) => ({ params: { digest: modelDigest } })),
  runAtEdge: fromRunner(({ modelVersion }) => ({ body: { modelVersionId: modelVersion, variant: "fp32", seed: 1 } })),
  linkInfer: fromRunner(({ model, placement }) => ({
    body: encodeFrame({ ...NOWHERE, model, placementId: placement }, [observation]),
    headers: { "content-type": FRAME_MEDIA_TYPE },
  })),

  createProfile: own(({ profile }) => ({
    body: { name: profile, description: "", requirements: {}, targets: {}, settings: {} },
  })),
  listProfiles: hidden(),
  getProfile: byName("profile"),
  updateProfile: byName("profile", {
    body: { description: "changed", requirements: {}, targets: {}, settings: {} },
    headers: { "if-match": '"1"' },
  }),
  deleteProfile: byName("profile"),
  createRequirements: own(({ requirements }) => ({ body: { name: requirements, requirements: required } })),
  listRequirements: hidden(),
  getRequirements: byName("requirements"),
  updateRequirements: byName("requirements", {
    body: { description: "changed", requirements: required },
    headers: { "if-match": '"1"' },
  }),
  deleteRequirements: byName("requirements"),

  uploadModel: own(({ model }) => ({ query: { name: model }, body: networkFile(), headers: OCTETS })),
  uploadModelFiles: hidden(({ modelDigest }) => ({ query: { name: "by-files" }, body: { model: modelDigest } })),
  checkModel: open("describes the sent file", () => ({ body: networkFile(), headers: OCTETS })),
  beginUpload: own(({ modelDigest }) => ({ body: { digest: modelDigest, sizeBytes: networkFile().byteLength } })),
  putUploadPart: hidden(
    ({ modelDigest }) => ({
      params: { digest: modelDigest, number: "1" },
      query: { digest: modelDigest },
      body: networkFile(),
      headers: { ...OCTETS, "content-length": String(networkFile().byteLength) },
    }),
    "an upload that nobody began",
  ),
  uploadVariant: ofModel({ query: { name: "half" }, body: networkFile(0.125), headers: OCTETS }),
  putVersionData: ofModel({ body: dataFile({ rows: 11 }), headers: OCTETS }),
  createVariant: ofModel({ body: { name: "small", recipe: { method: "int8" } } }),
  listModels: hidden(),
  getModel: ofModel(),
  setPlacement: ofModel({ body: { kind: "automatic" } }),
  listPlacements: ofModel(),
  getPlacement: byId("placement"),
  configurePlacement: byId("placement", { body: { threads: 2, maxRows: 8, maxInFlight: 4 } }),
  getPlacementSweep: byId("placement"),
  plotSweep: byId("placement"),
  getModelTrade: ofModel(),
  plotTrade: ofModel(),
  infer: hidden(({ model }) => ({ body: { ...NOWHERE, model, inputs } })),
  createTicket: hidden(({ model }) => ({ body: { ...NOWHERE, model } })),
  actPolicy: hidden(({ model }) => ({ params: { id: model }, body: { ...NOWHERE, observation: [1, 2, 3, 4] } })),
  streamPolicy: hidden(({ model }) => ({
    params: { id: model },
    query: { budgetMs: "50" },
    headers: { upgrade: "websocket" },
  })),

  createJob: [
    job(({ kernel }) => ({ ...TRIAD, kernel })),
    job(({ runner }) => ({ ...TRIAD, runnerId: runner })),
    job(({ profile }) => ({ ...TRIAD, profile })),
    job(({ model }) => ({
      kind: "validation",
      subject: { kind: "model", model },
      scenarios: [{ kind: "singleStream" }],
      requirements: [],
    })),
    job(({ requirements }) => ({
      kind: "validation",
      subject: { kind: "kernel", kernel: "triad" },
      scenarios: [{ kind: "singleStream" }],
      requirements,
    })),
    job(({ model }) => ({ kind: "optimisation", subject: { kind: "model", model }, targets: { latencyMs: 10 } })),
    job(({ model }) => ({ kind: "evaluation", environment: "balance", policies: [model] })),
    job(({ populationName }) => ({ kind: "evaluation", environment: "balance", population: populationName })),
    job(({ population }) => ({ kind: "evaluation", environment: "balance", population })),
    job(({ environmentName }) => ({ ...trainingInput, environment: environmentName })),
    job(({ pool }) => ({ kind: "evolution", pool, fitness: [1] })),
    job(({ pool }) => ({ kind: "consensus", options: 2, pool })),
  ],
  listJobs: hidden(),
  getJob: byId("job"),
  streamJobEvents: byId("job"),
  cancelJob: byId("waiting"),
  listJobArtifacts: byId("training"),
  getJobArtifact: hidden(({ training }) => ({ params: { id: training, name: "archive" } })),
  putJobArtifact: fromRunner(
    ({ training, modelDigest }) => ({
      params: { id: training, name: "archive" },
      query: { epoch: "1", digest: modelDigest },
      body: networkFile(),
      headers: { ...OCTETS, "content-length": String(networkFile().byteLength) },
    }),
    NO_LEASE,
  ),
  fetchJobArtifact: fromRunner(
    ({ training }) => ({ params: { id: training, name: "archive" }, query: { epoch: "1" } }),
    NO_LEASE,
  ),
  plotLearning: byId("training"),
  getRun: [byId("run"), byId("report")],
  getRunTrace: byId("run"),
  getRunSamples: [byId("run"), byId("report")],
  plotCurve: byId("validation"),
  plotFront: byId("optimisation"),
  plotProfile: byId("evaluation"),
  listEpisodes: byId("evaluation"),
  compareEvaluations: hidden(({ evaluation }) => ({ query: { a: evaluation, b: evaluation } })),

  listTunings: hidden(),
  getTuning: byId("tuning"),
  fetchTuning: fromRunner(({ tuning }) => ({ params: { id: tuning } })),
  submitKernel: own(({ kernelName }) => ({ body: { ...competitor, name: kernelName } })),
  listKernels: hidden(),
  getKernel: byId("kernel"),
  deleteKernel: byId("kernel"),
  getLeaderboard: [
    hidden(() => ({ params: { kernel: "triad" } })),
    hidden(({ kernel }) => ({ params: { kernel } })),
    hidden(({ kernelName }) => ({ params: { kernel: kernelName } }), "it goes by ids"),
  ],
  submitEnvironment: own(({ environmentName }) => ({ body: { ...counter, name: environmentName } })),
  listEnvironments: hidden(),
  getEnvironment: [
    hidden(({ environment }) => ({ params: { environment } })),
    hidden(({ environmentName }) => ({ params: { environment: environmentName } })),
  ],
  deleteEnvironment: byId("environment"),

  encodeSymbols: hidden(
    ({ runner }) => ({ body: { ...BUDGET, symbols: ["red"], dimension: 8, seed: 2, runnerId: runner } }),
    NO_COMPUTE,
  ),
  computeHrr: hidden(
    ({ runner }) => ({
      params: { operation: "project" },
      body: {
        ...BUDGET,
        runnerId: runner,
        dimension: 4,
        seed: 2,
        inputs: { x: { dtype: "float32", shape: [1, 2], data: [[1, 2]] } },
      },
    }),
    NO_COMPUTE,
  ),
  createItemMemory: own(({ memory }) => ({ body: { name: memory, dimension: 2 } })),
  listItemMemories: hidden(),
  getItemMemory: byName("memory"),
  addItems: byName("memory", { body: { items: [{ key: "red", vector: [1, 0] }] } }),
  searchItems: byName("memory", { body: { ...BUDGET, queries: [[1, 0]], limit: 3 } }),
  deleteItemMemory: byName("memory"),
  createAgentPool: own(({ pool }) => ({ body: { name: pool, agents: 1, stateSize: 4 } })),
  listAgentPools: hidden(),
  getAgentPool: byName("pool"),
  readAgents: byName("pool"),
  writeAgents: byName("pool", { body: new Uint8Array(16), headers: { ...OCTETS, "if-match": '"2"' } }),
  deleteAgentPool: byName("pool"),
  uploadPopulation: own(({ populationName }) => ({
    query: { name: populationName, network: POPULATION_NETWORK },
    body: populationFile,
    headers: OCTETS,
  })),
  listPopulations: hidden(),
  getPopulation: [
    hidden(({ population }) => ({ params: { population } })),
    hidden(({ populationName }) => ({ params: { population: populationName } })),
  ],
  downloadPopulation: hidden(({ population }) => ({ params: { population } })),
  deletePopulation: hidden(({ population }) => ({ params: { population } })),
  listArchives: [hidden(), hidden(({ training }) => ({ query: { job: training } }))],
  getArchive: byId("archive"),
  listElites: byId("archive"),
  plotArchive: byId("archive"),
  downloadArchive: byId("archive"),
  pruneArchive: byId("archive", { body: { minFitness: 0 } }),
  deleteArchive: byId("archive"),

  reportPoints: own(({ subject }) => ({ body: reportOf("walnut-report", subject) })),
  listSeries: [hidden(), ofSubject(), hidden(({ series }) => ({ query: { series } }))],
  getSeries: byId("series"),
  getSeriesNoise: byId("series"),
  muteSeries: byId("series"),
  unmuteSeries: byId("series"),
  listPoints: hidden(({ series }) => ({ query: { series } })),
  queryHistory: [hidden(), ofSubject(), hidden(({ series }) => ({ query: { series } }))],
  readHeatmap: [ofSubject(), hidden(({ series }) => ({ query: { series } }))],
  readScaling: ofSubject({ over: "batch" }),
  readHistoryLeaderboard: ofSubject(),
  readPredictionCalibration: [
    hidden(({ model }) => ({ query: { model: `${model}@1` } })),
    hidden(({ placement }) => ({ query: { placement } })),
  ],
  compareSeries: [
    hidden(({ report, run }) => ({ query: { a: `run:${report}`, b: `run:${run}` } })),
    hidden(({ baseline, label }) => ({ query: { a: `baseline:${baseline}`, b: `label:${label}` } })),
  ],
  listBaselines: hidden(),
  getBaseline: byName("baseline"),
  pinBaseline: own(({ baseline, report }) => ({ params: { name: baseline }, body: { run: report } })),
  deleteBaseline: byName("baseline"),
  createThreshold: own(({ subject }) => ({ body: thresholdOf("walnut-threshold", subject) })),
  testThreshold: hidden(({ series }) => ({ body: { threshold: thresholdOf("mine", "mine"), series } })),
  listThresholds: hidden(),
  getThreshold: byId("threshold"),
  updateThreshold: byId("threshold", { body: thresholdOf("changed", "changed"), headers: { "if-match": '"1"' } }),
  deleteThreshold: byId("threshold"),
  detectChanges: [
    hidden(({ series }) => ({ body: { selector: { series: [series] }, dryRun: true } })),
    hidden(({ subject }) => ({ body: { selector: { subject }, dryRun: true } })),
  ],
  listChanges: hidden(({ series }) => ({ query: { series } })),
  listAlerts: [hidden(), hidden(({ runner }) => ({ query: { runner } }))],
  getAlert: byId("alert"),
  changeAlert: hidden(({ alert }) => ({ params: { id: alert, action: "acknowledge" }, body: {} })),

  createWebhook: own(() => ({ body: { url: "https://walnut-hook.test/" } })),
  listWebhooks: hidden(),
  pingWebhook: byId("webhook"),
  listDeliveries: byId("webhook"),
  deleteWebhook: byId("webhook"),

  beginTransfer: operators(() => ({ body: { kind: "export" } })),
  endTransfer: operators(transfer),
  exportRows: operators(transfer),
  importRows: operators(transfer),
  listObjects: operators(transfer),
  exportObject: operators((things) => ({ ...transfer(things), query: { key: "traces/x" } })),
  importObject: operators((things) => ({
    ...transfer(things),
    query: { key: "traces/x", digest: things.modelDigest },
  })),
};
