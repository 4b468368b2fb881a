import { z } from "@hono/zod-openapi";
import { agentEndpoints } from "./jobs/agent-pool.ts";
import { alertEndpoints } from "./history/alert-endpoints.ts";
import { artifactEndpoints } from "./jobs/job-artifact.ts";
import { EdgeRunInput, EdgeRunReply } from "./models/edge-place.ts";
import { defineEndpoint } from "./endpoint.ts";
import { Diagnosis } from "./fleet/health.ts";
import { environmentEndpoints } from "./policies/environment-definition.ts";
import { evaluationEndpoints } from "./jobs/evaluation/evaluation.ts";
import { historyEndpoints } from "./history/history-endpoints.ts";
import { hrrEndpoints } from "./inference/hrr.ts";
import { idSchema } from "./wire/id.ts";
import {
  ADMISSION_PROBLEMS,
  FRAME_MEDIA_TYPE,
  INFERENCE_PROBLEMS,
  InferReply,
  InferRequest,
} from "./inference/inference.ts";
import { Job, JobInput, JobListQuery, JobPage } from "./jobs/job.ts";
import { RegistrationToken, TokenInput } from "./service/key.ts";
import { keyEndpoints } from "./service/key-endpoints.ts";
import { Leaderboard, LeaderboardQuery } from "./kernels/leaderboard.ts";
import { LIMITS } from "./wire/limits.ts";
import { RunnerMemory } from "./fleet/memory.ts";
import { CompressionRequest } from "./jobs/compression.ts";
import {
  Model,
  ModelPage,
  ModelReport,
  ModelUploadQuery,
  ModelVersion,
  Placement,
  VariantUploadQuery,
} from "./models/model.ts";
import { oipEndpoints } from "./inference/oip.ts";
import { IfMatch, Name, PageQuery } from "./wire/page.ts";
import { placementEndpoints } from "./models/models-endpoints.ts";
import { PlacementRuleInput } from "./fleet/serving.ts";
import { plotEndpoints } from "./models/plot-endpoints.ts";
import { ActReply, ActRequest, ActStreamQuery } from "./policies/policy.ts";
import { Profile, ProfileInput, ProfilePage, ProfileUpdate, RunnerFit, RunnerFitQuery } from "./fleet/profile.ts";
import { Run, RunSamples } from "./history/run.ts";
import { Ticket, TicketRequest } from "./inference/ticket.ts";
import { ServiceHealth } from "./service/service-state.ts";
import { archiveEndpoints } from "./policies/archive.ts";
import { populationEndpoints } from "./policies/population.ts";
import { projectEndpoints } from "./service/project.ts";
import { transferEndpoints } from "./service/transfer.ts";
import { StoredTuningRecord, TuningListQuery, TuningPage, TuningRecord } from "./jobs/tuning.ts";
import { Registration, RegistrationInput, RotatedCredential, Runner, RunnerPage } from "./fleet/runner.ts";
import { KernelInput, KernelPage, SubmittedKernel } from "./kernels/submitted-kernel.ts";
import { validationEndpoints } from "./jobs/validation.ts";

const byRunnerId = z.object({ id: idSchema("runner") });
const byJobId = z.object({ id: idSchema("job") });
const byKernelId = z.object({ id: idSchema("kernel") });
const byKernel = z.object({ kernel: Name.openapi({ description: "Name of the kernel that all are compared by" }) });
const byRunId = z.object({ id: idSchema("run") });
const byProfileName = z.object({ name: Name.openapi({ description: "Name of a hardware profile" }) });
const byTuningId = z.object({ id: idSchema("tuning") });
const byModel = z.object({ model: z.string().min(1).max(128).openapi({ description: "Name or id of a model" }) });
const byModelVersion = byModel.extend({
  version: z.coerce.number().int().min(1).openapi({ description: "Number of the version" }),
});
const byPolicy = z.object({
  id: z
    .string()
    .min(1)
    .max(128)
    .openapi({ description: "Name or id of a model that is a policy; `name@2` names a version" }),
});
const ifMatch = z.object({ "if-match": IfMatch });
const idempotencyKey = z.object({
  "idempotency-key": z
    .string()
    .min(1)
    .max(255)
    .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces")
    .optional()
    .openapi({ description: "Names this request: sent again with the same body, it is the same job" }),
});

const EVENT_STREAM = "text/event-stream";

/** Every route of the service. */
export const endpoints = {
  ...oipEndpoints,
  ...historyEndpoints,
  ...alertEndpoints,
  ...environmentEndpoints,
  ...placementEndpoints,
  ...transferEndpoints,
  ...hrrEndpoints,
  ...agentEndpoints,
  ...validationEndpoints,
  ...plotEndpoints,
  ...artifactEndpoints,
  ...populationEndpoints,
  ...archiveEndpoints,
  ...evaluationEndpoints,
  ...keyEndpoints,
  ...projectEndpoints,
  getHealth: defineEndpoint({
    method: "get",
    path: "/v1/health",
    tag: "service",
    summary: "Whether the edge answers",
    access: "public",
    reply: { status: 200, schema: ServiceHealth },
  }),
  streamEvents: defineEndpoint({
    method: "get",
    path: "/v1/events",
    tag: "service",
    summary: "Changes of runners, jobs, history and alerts as they happen, as server-sent events",
    access: "read",
    reply: { status: 200, mediaType: EVENT_STREAM },
  }),
  readMetrics: defineEndpoint({
    method: "get",
    path: "/metrics",
    tag: "service",
    summary: "Metrics of the service as Prometheus scrapes them",
    description: "Text of Prometheus' exposition format 0.0.4, or OpenMetrics 1.0.0 where `Accept` prefers that.",
    access: "read",
    isOperators: true,
    reply: { status: 200, mediaType: "text/plain" },
  }),

  createRegistrationToken: defineEndpoint({
    method: "post",
    path: "/v1/runners/tokens",
    tag: "runners",
    summary: "Create a one-time token for registering a runner",
    access: "admin",
    body: TokenInput,
    reply: { status: 201, schema: RegistrationToken },
  }),
  registerRunner: defineEndpoint({
    method: "post",
    path: "/v1/runners",
    tag: "runners",
    summary: "Trade a one-time token for a runner's id and credential",
    access: "public",
    body: RegistrationInput,
    reply: { status: 201, schema: Registration },
    problems: ["unauthorized", "token-expired", "token-used"],
  }),
  listRunners: defineEndpoint({
    method: "get",
    path: "/v1/runners",
    tag: "runners",
    summary: "List runners, newest first",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: RunnerPage },
  }),
  getRunner: defineEndpoint({
    method: "get",
    path: "/v1/runners/{id}",
    tag: "runners",
    summary: "Describe a runner: state, hardware, devices, fit to each profile",
    access: "read",
    params: byRunnerId,
    reply: { status: 200, schema: Runner },
    problems: ["not-found"],
  }),
  getRunnerMemory: defineEndpoint({
    method: "get",
    path: "/v1/runners/{id}/memory",
    tag: "runners",
    summary: "Ask a runner what lies in its tiers of memory, and how they have served since it started",
    access: "read",
    params: byRunnerId,
    reply: { status: 200, schema: RunnerMemory },
    problems: ["not-found", "runner-offline", "runner-lost", "overloaded", "budget-exceeded"],
  }),
  getRunnerFit: defineEndpoint({
    method: "get",
    path: "/v1/runners/{id}/fit",
    tag: "runners",
    summary:
      "Hold a runner against a hardware profile: its requirements line by line, and its targets by what was measured",
    access: "read",
    params: byRunnerId,
    query: RunnerFitQuery,
    reply: { status: 200, schema: RunnerFit },
    problems: ["not-found"],
  }),
  getRunnerDiagnosis: defineEndpoint({
    method: "get",
    path: "/v1/runners/{id}/diagnosis",
    tag: "runners",
    summary: "Ask a runner how it is: a checklist with what is measured, what it should be, and what to change",
    description: "One that does not answer is told of by its last report.",
    access: "read",
    params: byRunnerId,
    reply: { status: 200, schema: Diagnosis },
    problems: ["not-found", "runner-offline", "runner-lost", "overloaded", "budget-exceeded"],
  }),
  streamRunnerLive: defineEndpoint({
    method: "get",
    path: "/v1/runners/{id}/live",
    tag: "runners",
    summary: "How a runner is, every second while somebody watches, as server-sent events",
    description: `The events are LiveEvents. ${LIMITS.liveWatchers} may watch one runner at once.`,
    access: "read",
    params: byRunnerId,
    reply: { status: 200, mediaType: EVENT_STREAM },
    problems: ["not-found", "runner-lost", "overloaded"],
  }),
  drainRunner: defineEndpoint({
    method: "post",
    path: "/v1/runners/{id}/drain",
    tag: "runners",
    summary: "Let a runner finish what it has and take nothing new",
    access: "admin",
    params: byRunnerId,
    repeatable: "as-it-is",
    reply: { status: 200, schema: Runner },
    problems: ["not-found"],
  }),
  resumeRunner: defineEndpoint({
    method: "post",
    path: "/v1/runners/{id}/resume",
    tag: "runners",
    summary: "Give a drained runner work again",
    access: "admin",
    params: byRunnerId,
    repeatable: "as-it-is",
    reply: { status: 200, schema: Runner },
    problems: ["not-found"],
  }),
  shareRunner: defineEndpoint({
    method: "post",
    path: "/v1/runners/{id}/share",
    tag: "runners",
    summary: "Let a runner work for all projects",
    access: "admin",
    params: byRunnerId,
    repeatable: "as-it-is",
    reply: { status: 200, schema: Runner },
    problems: ["not-found"],
  }),
  unshareRunner: defineEndpoint({
    method: "post",
    path: "/v1/runners/{id}/unshare",
    tag: "runners",
    summary: "Let a runner work for its own project alone; what it serves and holds for others ends",
    access: "admin",
    params: byRunnerId,
    repeatable: "as-it-is",
    reply: { status: 200, schema: Runner },
    problems: ["not-found"],
  }),
  rotateCredential: defineEndpoint({
    method: "post",
    path: "/v1/runners/{id}/rotate",
    tag: "runners",
    summary: "Make a new credential; the old one works until the new one is first used",
    access: "admin",
    params: byRunnerId,
    reply: { status: 200, schema: RotatedCredential },
    problems: ["not-found"],
  }),
  removeRunner: defineEndpoint({
    method: "delete",
    path: "/v1/runners/{id}",
    tag: "runners",
    summary: "Remove a runner; its credential stops working, its history stays",
    access: "admin",
    params: byRunnerId,
    reply: { status: 204 },
    problems: ["not-found"],
  }),
  connectRunner: defineEndpoint({
    method: "get",
    path: "/v1/link",
    tag: "runners",
    summary: "Open the runner's WebSocket (see docs/protocol.md)",
    access: "runner",
    reply: { status: 101 },
    problems: ["upgrade-required"],
  }),
  downloadArtifact: defineEndpoint({
    method: "get",
    path: "/v1/artifacts/{digest}",
    tag: "runners",
    summary: "Fetch an artifact by its digest, as a runner",
    access: "runner",
    params: z.object({
      digest: z
        .string()
        .regex(/^sha256:[0-9a-f]{64}$/)
        .openapi({ description: "`sha256:` and 64 hexadecimal digits" }),
    }),
    reply: { status: 200, mediaType: "application/octet-stream" },
    problems: ["not-found"],
  }),
  runAtEdge: defineEndpoint({
    method: "post",
    path: "/v1/link/edge-runs",
    tag: "runners",
    summary: "Have the edge compute a dense network on seeded inputs, as a runner that compares and times it",
    access: "runner",
    body: EdgeRunInput,
    reply: { status: 200, schema: EdgeRunReply },
    problems: ["not-found", "backend-failed"],
  }),

  createProfile: defineEndpoint({
    method: "post",
    path: "/v1/profiles",
    tag: "profiles",
    summary: "Create a hardware profile",
    access: "admin",
    body: ProfileInput,
    reply: { status: 201, schema: Profile },
    problems: ["conflict"],
  }),
  listProfiles: defineEndpoint({
    method: "get",
    path: "/v1/profiles",
    tag: "profiles",
    summary: "List hardware profiles, the built-in ones first",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: ProfilePage },
  }),
  getProfile: defineEndpoint({
    method: "get",
    path: "/v1/profiles/{name}",
    tag: "profiles",
    summary: "Describe a hardware profile",
    access: "read",
    params: byProfileName,
    reply: { status: 200, schema: Profile },
    problems: ["not-found"],
  }),
  updateProfile: defineEndpoint({
    method: "put",
    path: "/v1/profiles/{name}",
    tag: "profiles",
    summary: "Replace a profile of your own; wants If-Match with its ETag",
    access: "admin",
    params: byProfileName,
    headers: ifMatch,
    body: ProfileUpdate,
    reply: { status: 200, schema: Profile },
    problems: ["not-found", "conflict", "precondition-failed", "precondition-required"],
  }),
  deleteProfile: defineEndpoint({
    method: "delete",
    path: "/v1/profiles/{name}",
    tag: "profiles",
    summary: "Delete a profile of your own",
    access: "admin",
    params: byProfileName,
    reply: { status: 204 },
    problems: ["not-found", "conflict"],
  }),

  uploadModel: defineEndpoint({
    method: "post",
    path: "/v1/models",
    tag: "models",
    summary: "Upload an ONNX file as the next version of a model",
    description: "The same bytes again give the version that is there already, with status 200.",
    access: "submit",
    query: ModelUploadQuery,
    rawBody: { mediaTypes: ["application/octet-stream"], maxBytes: LIMITS.modelBytes },
    repeatable: "as-it-is",
    reply: { status: 201, schema: z.object({ model: Model, version: ModelVersion }).openapi("UploadedModel") },
    problems: ["invalid-model", "payload-too-large", "unsupported-media-type"],
  }),
  checkModel: defineEndpoint({
    method: "post",
    path: "/v1/models/check",
    tag: "models",
    summary: "Say what an ONNX file is, and all that is wrong with it, without keeping it",
    access: "submit",
    rawBody: { mediaTypes: ["application/octet-stream"], maxBytes: LIMITS.modelBytes },
    repeatable: "as-it-is",
    reply: { status: 200, schema: ModelReport },
    problems: ["payload-too-large", "unsupported-media-type"],
  }),
  uploadVariant: defineEndpoint({
    method: "post",
    path: "/v1/models/{model}/versions/{version}/variants",
    tag: "models",
    summary: "Upload an ONNX file as another variant of a version: the same inputs and outputs by other arithmetic",
    description: "Runners measure it beside the version's own file; the same bytes under the same name change nothing.",
    access: "submit",
    params: byModelVersion,
    query: VariantUploadQuery,
    rawBody: { mediaTypes: ["application/octet-stream"], maxBytes: LIMITS.modelBytes },
    repeatable: "as-it-is",
    reply: { status: 201, schema: ModelVersion },
    problems: ["not-found", "conflict", "invalid-model", "payload-too-large", "unsupported-media-type"],
  }),
  putVersionData: defineEndpoint({
    method: "put",
    path: "/v1/models/{model}/versions/{version}/data",
    tag: "models",
    summary: "Give a version the samples that its variants are measured on: a safetensors file of inputs and answers",
    description: "The latest counts. What stands in the file is described in models/README.md.",
    access: "submit",
    params: byModelVersion,
    rawBody: { mediaTypes: ["application/octet-stream"], maxBytes: LIMITS.heldOutBytes },
    reply: { status: 200, schema: ModelVersion },
    problems: ["not-found", "conflict", "payload-too-large", "unsupported-media-type"],
  }),
  createVariant: defineEndpoint({
    method: "post",
    path: "/v1/models/{model}/variants",
    tag: "models",
    summary: "Queue a compression: a runner makes a smaller variant of a version and measures how good it is",
    description: "The same as `POST /v1/jobs` with the kind `compression`.",
    access: "submit",
    params: byModel,
    headers: idempotencyKey,
    body: CompressionRequest,
    repeatable: "by-key",
    reply: { status: 202, schema: Job },
    problems: ["not-found", "idempotency-key-reused", "queue-full"],
  }),
  listModels: defineEndpoint({
    method: "get",
    path: "/v1/models",
    tag: "models",
    summary: "List models with their versions",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: ModelPage },
  }),
  getModel: defineEndpoint({
    method: "get",
    path: "/v1/models/{model}",
    tag: "models",
    summary: "Describe a model, by name or id",
    access: "read",
    params: byModel,
    reply: { status: 200, schema: Model },
    problems: ["not-found"],
  }),
  setPlacement: defineEndpoint({
    method: "put",
    path: "/v1/models/{model}/placement",
    tag: "models",
    summary: "Say which runners measure and serve a model",
    description:
      "It counts at once: runners that it leaves out lose their placements, the others are given calibrations. `profile` is matched with what a runner says of itself when it connects.",
    access: "submit",
    params: byModel,
    body: PlacementRuleInput,
    reply: { status: 200, schema: Model },
    problems: ["not-found"],
  }),
  listPlacements: defineEndpoint({
    method: "get",
    path: "/v1/models/{model}/placements",
    tag: "models",
    summary: "Where a model runs, and what was measured there",
    access: "read",
    params: byModel,
    reply: { status: 200, schema: z.object({ items: z.array(Placement) }).openapi("PlacementList") },
    problems: ["not-found"],
  }),

  infer: defineEndpoint({
    method: "post",
    path: "/v1/infer",
    tag: "inference",
    summary: "Run a model within a budget, or be refused at once",
    description: `JSON, or \`${FRAME_MEDIA_TYPE}\`: a frame with raw little-endian tensors, answered in kind.`,
    access: "infer",
    body: InferRequest,
    rawBody: { mediaTypes: ["application/json", FRAME_MEDIA_TYPE], maxBytes: LIMITS.inferBodyBytes },
    reply: { status: 200, schema: InferReply },
    problems: INFERENCE_PROBLEMS,
  }),

  createTicket: defineEndpoint({
    method: "post",
    path: "/v1/tickets",
    tag: "inference",
    summary: "Get a ticket for asking a runner itself, without the hop over the edge",
    description: `Short-lived and good for many requests: \`POST\` frames (\`${FRAME_MEDIA_TYPE}\`) to its \`url\`.`,
    access: "infer",
    body: TicketRequest,
    reply: { status: 201, schema: Ticket },
    problems: [...ADMISSION_PROBLEMS, "no-listener"],
  }),

  actPolicy: defineEndpoint({
    method: "post",
    path: "/v1/policies/{id}/act",
    tag: "inference",
    summary: "Ask a policy for its action within a budget",
    description: "A policy is a model with one float32 input and a float32 output, both with a free first dimension.",
    access: "infer",
    params: byPolicy,
    body: ActRequest,
    bodyBytes: LIMITS.inferBodyBytes,
    reply: { status: 200, schema: ActReply },
    problems: [...INFERENCE_PROBLEMS, "invalid-model"],
  }),
  streamPolicy: defineEndpoint({
    method: "get",
    path: "/v1/policies/{id}/stream",
    tag: "inference",
    summary: "Open a WebSocket that takes observations and gives actions (see docs/protocol.md)",
    access: "infer",
    params: byPolicy,
    query: ActStreamQuery,
    reply: { status: 101 },
    problems: ["not-found", "invalid-model"],
  }),

  createJob: defineEndpoint({
    method: "post",
    path: "/v1/jobs",
    tag: "jobs",
    summary: "Queue a job; with an Idempotency-Key, sending it again gives the same job",
    access: "submit",
    headers: idempotencyKey,
    body: JobInput,
    repeatable: "by-key",
    reply: { status: 202, schema: Job },
    problems: ["unknown-kernel", "kernel-invalid", "kernel-quarantined", "idempotency-key-reused", "queue-full"],
  }),
  listJobs: defineEndpoint({
    method: "get",
    path: "/v1/jobs",
    tag: "jobs",
    summary: "List jobs, newest first",
    access: "read",
    query: JobListQuery,
    reply: { status: 200, schema: JobPage },
  }),
  getJob: defineEndpoint({
    method: "get",
    path: "/v1/jobs/{id}",
    tag: "jobs",
    summary: "Describe a job, with its result once it has one",
    access: "read",
    params: byJobId,
    reply: { status: 200, schema: Job },
    problems: ["not-found"],
  }),
  streamJobEvents: defineEndpoint({
    method: "get",
    path: "/v1/jobs/{id}/events",
    tag: "jobs",
    summary: "A job's events as server-sent events; ends when the job has ended",
    description: "`Last-Event-ID` resumes behind an event that was seen.",
    access: "read",
    params: byJobId,
    reply: { status: 200, mediaType: EVENT_STREAM },
    problems: ["not-found"],
  }),
  cancelJob: defineEndpoint({
    method: "post",
    path: "/v1/jobs/{id}/cancel",
    tag: "jobs",
    summary: "Cancel a job; a job that has ended stays as it is",
    access: "submit",
    params: byJobId,
    repeatable: "as-it-is",
    reply: { status: 200, schema: Job },
    problems: ["not-found"],
  }),

  getRun: defineEndpoint({
    method: "get",
    path: "/v1/runs/{id}",
    tag: "history",
    summary: "Describe a run: a job's that ended well, kept when the job is forgotten, or one that was reported",
    access: "read",
    params: byRunId,
    reply: { status: 200, schema: Run },
    problems: ["not-found"],
  }),
  getRunTrace: defineEndpoint({
    method: "get",
    path: "/v1/runs/{id}/trace",
    tag: "history",
    summary: "The trace of a run, where its benchmark asked for one: opens in Perfetto and chrome://tracing",
    access: "read",
    params: byRunId,
    reply: { status: 200, mediaType: "application/json" },
    problems: ["not-found"],
  }),
  getRunSamples: defineEndpoint({
    method: "get",
    path: "/v1/runs/{id}/samples",
    tag: "history",
    summary: "The raw samples of a run, where they were kept",
    access: "read",
    params: byRunId,
    reply: { status: 200, schema: RunSamples },
    problems: ["not-found"],
  }),
  listTunings: defineEndpoint({
    method: "get",
    path: "/v1/tunings",
    tag: "kernels",
    summary: "What searches found to be fastest, by kernel and device, newest first",
    access: "read",
    query: TuningListQuery,
    reply: { status: 200, schema: TuningPage },
  }),
  getTuning: defineEndpoint({
    method: "get",
    path: "/v1/tunings/{id}",
    tag: "kernels",
    summary: "A tuning with every candidate that was tried",
    access: "read",
    params: byTuningId,
    reply: { status: 200, schema: StoredTuningRecord },
    problems: ["not-found"],
  }),
  fetchTuning: defineEndpoint({
    method: "get",
    path: "/v1/link/tunings/{id}",
    tag: "runners",
    summary: "The tuning of a key, as a runner: what another runner with the same fingerprint found",
    access: "runner",
    params: byTuningId,
    reply: { status: 200, schema: TuningRecord },
    problems: ["not-found"],
  }),
  submitKernel: defineEndpoint({
    method: "post",
    path: "/v1/kernels",
    tag: "kernels",
    summary: "Submit a kernel in WGSL, to be checked and timed on your runners",
    description:
      "It is stored unchecked, and a benchmark at its default sizes is queued where a runner can take it: " +
      "`checkJobId` names it. The same submission again gives the kernel that is there already, with status 200.",
    access: "submit",
    body: KernelInput,
    repeatable: "as-it-is",
    reply: { status: 201, schema: SubmittedKernel },
    problems: ["unknown-kernel", "conflict"],
  }),
  listKernels: defineEndpoint({
    method: "get",
    path: "/v1/kernels",
    tag: "kernels",
    summary: "The kernels that the registered runners announce, then the submitted ones, newest first",
    access: "read",
    query: PageQuery,
    reply: { status: 200, schema: KernelPage },
  }),
  getKernel: defineEndpoint({
    method: "get",
    path: "/v1/kernels/{id}",
    tag: "kernels",
    summary: "Describe a submitted kernel, with its WGSL",
    access: "read",
    params: byKernelId,
    reply: { status: 200, schema: SubmittedKernel },
    problems: ["not-found"],
  }),
  deleteKernel: defineEndpoint({
    method: "delete",
    path: "/v1/kernels/{id}",
    tag: "kernels",
    summary: "Delete a submitted kernel of one's own; its runs stay",
    access: "submit",
    params: byKernelId,
    reply: { status: 204 },
    problems: ["not-found", "conflict"],
  }),
  getLeaderboard: defineEndpoint({
    method: "get",
    path: "/v1/kernels/{kernel}/leaderboard",
    tag: "kernels",
    summary: "The kernels that do the work of this one, ranked by shape, device and clock",
    description: "Of each kernel, the run with the smallest median. Only outputs that were right are ranked.",
    access: "read",
    params: byKernel,
    query: LeaderboardQuery,
    reply: { status: 200, schema: Leaderboard },
    problems: ["not-found"],
  }),
} as const;
