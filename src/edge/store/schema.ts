import { sql } from "drizzle-orm";
import { foreignKey, index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { Clock } from "../../protocol/wire/distribution.ts";
import type { AgentPoolSpec } from "../../protocol/jobs/agent-pool.ts";
import type { ArchiveSummary } from "../../protocol/policies/archive.ts";
import type { EnvironmentDefinition } from "../../protocol/policies/environment-definition.ts";
import type { Capabilities, Fingerprint } from "../../protocol/fleet/hardware.ts";
import type { ItemMemorySpec } from "../../protocol/inference/hrr.ts";
import type { JobArtifact } from "../../protocol/jobs/job-artifact.ts";
import type { Scope } from "../../protocol/service/key.ts";
import type { MeasuredFidelity, Recipe } from "../../protocol/models/variant.ts";
import type { MemoryFit, ModelSummary, TensorSpec } from "../../protocol/models/model.ts";
import type { PlacementRule, ServingConfiguration } from "../../protocol/fleet/serving.ts";
import type { PolicyCard } from "../../protocol/models/policy-network.ts";
import type { Population } from "../../protocol/policies/population.ts";
import type { Problem } from "../../protocol/wire/problem.ts";
import type { ProfileInput } from "../../protocol/fleet/profile.ts";
import type { RequirementSetInput } from "../../protocol/models/requirement.ts";
import type { RunnerQuarantine } from "../../protocol/fleet/runner.ts";
import type { SubmittedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import type { DType } from "../../protocol/wire/tensor.ts";
import type { Tuning } from "../../protocol/jobs/tuning.ts";

/** The source of migrations/: change it here, then `npm run db:generate`. Times are Unix milliseconds. */

/** Tenants beside `main`, which is the operator's own and always there; other tables name them in `project`. */
export const projects = sqliteTable("projects", {
  name: text().primaryKey(),
  createdAtMs: integer().notNull(),
  /** Set when its keys were closed; its rows stay. */
  closedAtMs: integer(),
});

/** What was changed by whom: every request of an administrator but those that only read. */
export const auditEntries = sqliteTable(
  "audit_entries",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    /** The key that asked; null where none was needed. */
    keyId: text(),
    /** Name of the endpoint. */
    action: text().notNull(),
    path: text().notNull(),
    status: integer().notNull(),
    atMs: integer().notNull(),
  },
  (table) => [
    index("audit_entries_by_time").on(table.project, table.id),
    index("audit_entries_of_key").on(table.keyId),
  ],
);

export const keys = sqliteTable("keys", {
  id: text().primaryKey(),
  project: text().notNull(),
  hash: text().notNull().unique(),
  name: text().notNull(),
  scopes: text({ mode: "json" }).$type<Scope[]>().notNull(),
  createdAtMs: integer().notNull(),
  revokedAtMs: integer(),
  /** Of the secret that a rotation replaced, and until when it still opens. */
  previousHash: text().unique(),
  previousUntilMs: integer(),
  /** Null: the limit that all keys have. */
  requestsPerSecond: real(),
  /** To within some minutes. */
  lastUsedAtMs: integer(),
});

export const registrationTokens = sqliteTable("registration_tokens", {
  id: text().primaryKey(),
  project: text().notNull(),
  hash: text().notNull().unique(),
  expiresAtMs: integer().notNull(),
  usedByRunnerId: text(),
});

export const runners = sqliteTable(
  "runners",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    name: text().notNull(),
    credentialHash: text().notNull().unique(),
    /** Set while a rotation is under way: becomes the credential when it is first used. */
    nextCredentialHash: text().unique(),
    labels: text({ mode: "json" }).$type<Record<string, string>>().notNull(),
    capabilities: text({ mode: "json" }).$type<Capabilities>(),
    online: integer({ mode: "boolean" }).notNull().default(false),
    draining: integer({ mode: "boolean" }).notNull().default(false),
    /** As the queue last decided; it ends by itself. */
    quarantine: text({ mode: "json" }).$type<RunnerQuarantine>(),
    /** Whether it works for other projects, too. */
    shared: integer({ mode: "boolean" }).notNull().default(false),
    version: integer().notNull().default(1),
    createdAtMs: integer().notNull(),
    connectedAtMs: integer(),
    lastSeenAtMs: integer(),
    removedAtMs: integer(),
  },
  (table) => [index("runners_by_name").on(table.name)],
);

export const profiles = sqliteTable(
  "profiles",
  {
    project: text().notNull(),
    name: text().notNull(),
    spec: text({ mode: "json" }).$type<ProfileInput>().notNull(),
    version: integer().notNull(),
    updatedAtMs: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.project, table.name] })],
);

/** Requirements under a name. */
export const requirementSets = sqliteTable(
  "requirement_sets",
  {
    project: text().notNull(),
    name: text().notNull(),
    spec: text({ mode: "json" }).$type<RequirementSetInput>().notNull(),
    version: integer().notNull(),
    updatedAtMs: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.project, table.name] })],
);

export const models = sqliteTable(
  "models",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    name: text().notNull(),
    /** Null: automatic. */
    placementRule: text({ mode: "json" }).$type<PlacementRule>(),
    createdAtMs: integer().notNull(),
  },
  (table) => [uniqueIndex("models_by_name").on(table.project, table.name)],
);

export const modelVersions = sqliteTable(
  "model_versions",
  {
    id: text().primaryKey(),
    modelId: text()
      .notNull()
      .references(() => models.id),
    version: integer().notNull(),
    digest: text().notNull(),
    sizeBytes: integer().notNull(),
    inputs: text({ mode: "json" }).$type<TensorSpec[]>().notNull(),
    outputs: text({ mode: "json" }).$type<TensorSpec[]>().notNull(),
    /** Of a dense network, which the edge can compute by itself; null of all others. */
    edgeParameters: integer(),
    /** What its file is made of; null where it was stored before anybody counted. */
    summary: text({ mode: "json" }).$type<ModelSummary>(),
    /** What is known of where it comes from and how it did; null of most. */
    card: text({ mode: "json" }).$type<PolicyCard>(),
    createdAtMs: integer().notNull(),
  },
  (table) => [
    uniqueIndex("model_versions_by_version").on(table.modelId, table.version),
    uniqueIndex("model_versions_by_digest").on(table.modelId, table.digest),
    index("model_versions_of_digest").on(table.digest),
  ],
);

/** Further files of a version; its own is `fp32` and stands in the version itself. */
export const modelVariants = sqliteTable(
  "model_variants",
  {
    modelVersionId: text()
      .notNull()
      .references(() => modelVersions.id),
    name: text().notNull(),
    digest: text().notNull(),
    sizeBytes: integer().notNull(),
    fidelity: real(),
    summary: text({ mode: "json" }).$type<ModelSummary>(),
    /** How it was made, and by which job; null of an upload. */
    recipe: text({ mode: "json" }).$type<Recipe>(),
    /** What that job measured. */
    measured: text({ mode: "json" }).$type<MeasuredFidelity>(),
    jobId: text(),
    createdAtMs: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.modelVersionId, table.name] }),
    index("model_variants_of_digest").on(table.digest),
  ],
);

/** Samples that a version was not trained on, which its variants are measured on. */
export const versionData = sqliteTable(
  "version_data",
  {
    modelVersionId: text()
      .primaryKey()
      .references(() => modelVersions.id),
    digest: text().notNull(),
    sizeBytes: integer().notNull(),
    rows: integer().notNull(),
    metric: text().notNull(),
    createdAtMs: integer().notNull(),
  },
  (table) => [index("version_data_of_digest").on(table.digest)],
);

export const placements = sqliteTable(
  "placements",
  {
    id: text().primaryKey(),
    modelVersionId: text()
      .notNull()
      .references(() => modelVersions.id),
    runnerId: text()
      .notNull()
      .references(() => runners.id),
    deviceKey: text().notNull(),
    software: integer({ mode: "boolean" }).notNull(),
    variant: text().notNull(),
    backend: text().notNull(),
    state: text().notNull(),
    fidelity: real(),
    fingerprint: text({ mode: "json" }).$type<Fingerprint>().notNull(),
    /** As JSON (protocol's SweepStep[] and Distribution): parsed where they are read. */
    sweep: text().notNull(),
    linkMs: text().notNull(),
    memory: text({ mode: "json" }).$type<MemoryFit>(),
    loadMs: real().notNull(),
    /** As JSON (protocol's ServingConfiguration); null: the one that every placement begins with. */
    configuration: text({ mode: "json" }).$type<ServingConfiguration>(),
    /** As JSON (Placement's `validated`): its latest validation; null where there is none. */
    validated: text(),
    updatedAtMs: integer().notNull(),
  },
  (table) => [
    uniqueIndex("placements_by_place").on(
      table.modelVersionId,
      table.runnerId,
      table.deviceKey,
      table.variant,
      table.backend,
    ),
    index("placements_of_runner").on(table.runnerId),
  ],
);

/** Kernels that users submitted; nothing of a row changes but what was found out about it. */
export const kernels = sqliteTable(
  "kernels",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    ownerId: text().notNull(),
    digest: text().notNull(),
    name: text().notNull(),
    description: text().notNull(),
    dtype: text().$type<DType>().notNull(),
    dimensions: text({ mode: "json" }).$type<SubmittedKernel["definition"]["dimensions"]>().notNull(),
    /** Name or id of the kernel that it competes with; its own id if with none. */
    reference: text().notNull(),
    state: text().$type<SubmittedKernel["state"]>().notNull(),
    problem: text({ mode: "json" }).$type<Problem>(),
    checkJobId: text(),
    /** As JSON (protocol's KernelDefinition), with the WGSL. */
    definition: text().notNull(),
    createdAtMs: integer().notNull(),
  },
  (table) => [
    uniqueIndex("kernels_by_digest").on(table.ownerId, table.digest),
    index("kernels_of_reference").on(table.reference),
  ],
);

/** Uploaded weights of many policies; the file is an artifact. */
export const populations = sqliteTable(
  "populations",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    name: text(),
    digest: text().notNull(),
    sizeBytes: integer().notNull(),
    layout: text({ mode: "json" })
      .$type<Pick<Population, "format" | "offsetBytes" | "members" | "parameters" | "network">>()
      .notNull(),
    createdAtMs: integer().notNull(),
  },
  (table) => [uniqueIndex("populations_by_name").on(table.project, table.name)],
);

/** Environments that users submitted, with their WGSL. */
export const environments = sqliteTable(
  "environments",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    name: text().notNull(),
    keyId: text(),
    definition: text({ mode: "json" }).$type<EnvironmentDefinition>().notNull(),
    digest: text().notNull(),
    createdAtMs: integer().notNull(),
  },
  (table) => [uniqueIndex("environments_by_name").on(table.project, table.name)],
);

/** Files that jobs left beside their results; each is an artifact. */
export const jobArtifacts = sqliteTable(
  "job_artifacts",
  {
    jobId: text().notNull(),
    project: text().notNull(),
    name: text().$type<JobArtifact["name"]>().notNull(),
    digest: text().notNull(),
    sizeBytes: integer().notNull(),
    mediaType: text().notNull(),
    createdAtMs: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.jobId, table.name] }), index("job_artifacts_of_digest").on(table.digest)],
);

/** Archives of quality diversity, each with its file. */
export const archives = sqliteTable(
  "archives",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    /** The job that it comes from. */
    jobId: text(),
    digest: text().notNull(),
    sizeBytes: integer().notNull(),
    summary: text({ mode: "json" }).$type<ArchiveSummary>().notNull(),
    createdAtMs: integer().notNull(),
  },
  (table) => [index("archives_of_job").on(table.jobId)],
);

/** Memories of items as holographic vectors; the vectors lie in artifacts, so many items each. */
export const itemMemories = sqliteTable(
  "item_memories",
  {
    project: text().notNull(),
    name: text().notNull(),
    spec: text({ mode: "json" }).$type<ItemMemorySpec>().notNull(),
    version: integer().notNull(),
    createdAtMs: integer().notNull(),
    updatedAtMs: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.project, table.name] })],
);

export const itemMemoryParts = sqliteTable(
  "item_memory_parts",
  {
    project: text().notNull(),
    memory: text().notNull(),
    part: integer().notNull(),
    digest: text().notNull(),
    sizeBytes: integer().notNull(),
    keys: text({ mode: "json" }).$type<string[]>().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.project, table.memory, table.part] }),
    foreignKey({ columns: [table.project, table.memory], foreignColumns: [itemMemories.project, itemMemories.name] }),
  ],
);

/** Pools of agents, whose states are an artifact. */
export const agentPools = sqliteTable(
  "agent_pools",
  {
    project: text().notNull(),
    name: text().notNull(),
    spec: text({ mode: "json" }).$type<AgentPoolSpec>().notNull(),
    /** Of float32[agents, stateSize]; null: every number is zero. */
    digest: text(),
    generation: integer().notNull(),
    version: integer().notNull(),
    createdAtMs: integer().notNull(),
    updatedAtMs: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.project, table.name] })],
);

/** The best run of each kernel that does the work of `reference`, by shape, device and clock. */
export const standings = sqliteTable(
  "standings",
  {
    project: text().notNull(),
    reference: text().notNull(),
    fingerprintId: text().notNull(),
    /** Every size by name, `k=4,m=4,n=4`. */
    shape: text().notNull(),
    dtype: text().$type<DType>().notNull(),
    clock: text().$type<Clock>().notNull(),
    kernel: text().notNull(),
    variant: text().notNull(),
    medianMs: real().notNull(),
    lowMs: real().notNull(),
    highMs: real().notNull(),
    iterations: integer().notNull(),
    deviceName: text().notNull(),
    software: integer({ mode: "boolean" }).notNull(),
    fingerprint: text({ mode: "json" }).$type<Fingerprint>().notNull(),
    runId: text().notNull(),
    atMs: integer().notNull(),
  },
  (table) => [
    primaryKey({
      columns: [
        table.project,
        table.reference,
        table.fingerprintId,
        table.shape,
        table.dtype,
        table.clock,
        table.kernel,
      ],
    }),
    index("standings_by_shape").on(table.reference, table.shape),
    index("standings_of_kernel").on(table.kernel),
  ],
);

/** The latest tuning of each key; its trials are in the result of its job's run. */
export const tunings = sqliteTable(
  "tunings",
  {
    /** Digest of the key: kernel, type, bucket, candidates, fingerprint. */
    id: text().notNull(),
    project: text().notNull(),
    kernel: text().notNull(),
    fingerprintId: text().notNull(),
    jobId: text().notNull(),
    runnerId: text().notNull(),
    tuning: text({ mode: "json" }).$type<Tuning>().notNull(),
    storedAtMs: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.project, table.id] }),
    index("tunings_by_time").on(table.storedAtMs, table.id),
    index("tunings_of_kernel").on(table.kernel),
  ],
);

/** One execution of a job that ended well; a job has at most one. */
export const runs = sqliteTable(
  "runs",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    jobId: text().notNull().unique(),
    attempt: integer().notNull(),
    runnerId: text().notNull(),
    deviceKey: text().notNull(),
    kind: text().notNull(),
    spec: text().notNull(),
    result: text().notNull(),
    startedAtMs: integer().notNull(),
    endedAtMs: integer().notNull(),
  },
  (table) => [index("runs_by_time").on(table.endedAtMs)],
);

/** A run that somebody reported from outside; what a job did stands in `runs`. */
export const reports = sqliteTable(
  "reports",
  {
    /** Follows from owner and name: reported again, it is the same run. */
    id: text().primaryKey(),
    project: text().notNull(),
    ownerId: text().notNull(),
    name: text().notNull(),
    /** Of the measurements as they were sent, to tell a repetition from another run under the same name. */
    digest: text().notNull(),
    tool: text().notNull(),
    label: text(),
    revision: text(),
    points: integer().notNull(),
    atMs: integer().notNull(),
    storedAtMs: integer().notNull(),
  },
  (table) => [index("reports_by_time").on(table.storedAtMs)],
);

export const series = sqliteTable(
  "series",
  {
    /** Names the series in the tables of its points: an id would be most of a row there. */
    no: integer().primaryKey({ autoIncrement: true }),
    /** Digest of the key: the same key, the same series. */
    id: text().notNull().unique(),
    project: text().notNull(),
    subjectKind: text().notNull(),
    subject: text().notNull(),
    metric: text().notNull(),
    /** Null where the key has none, or where the series is older than this column. */
    fingerprintId: text(),
    label: text(),
    /** The whole key as JSON (protocol's SeriesKey). */
    key: text().notNull(),
    createdAtMs: integer().notNull(),
    /** Of the points up to `historyState.rolledSeq`. */
    points: integer().notNull().default(0),
    lastPointAtMs: integer(),
    /** Changes of a muted series alert nobody. */
    mutedAtMs: integer(),
    /** When its changes were last looked for, and in which points: those that had come by then. */
    detectedAtMs: integer(),
    detectedSeq: integer().notNull().default(0),
  },
  (table) => [
    index("series_by_subject").on(table.subject, table.metric),
    index("series_by_time").on(table.project, table.createdAtMs, table.id),
    index("series_by_fingerprint").on(table.fingerprintId),
  ],
);

/** What was measured, in the order in which it came. */
export const points = sqliteTable(
  "points",
  {
    /** Rises with every point that comes, whenever it was measured. */
    seq: integer().primaryKey({ autoIncrement: true }),
    seriesNo: integer()
      .notNull()
      .references(() => series.no),
    atMs: integer().notNull(),
    /** Of whoever measured: the same point sent twice is stored once. */
    sourceId: text().notNull(),
    /** Null for what live requests left, which is kept for some days; points of runs stay. */
    runId: text(),
    /** Commit or other version of what was measured. */
    revision: text(),
    count: integer().notNull(),
    min: real().notNull(),
    max: real().notNull(),
    sum: real().notNull(),
    sketch: text().notNull(),
  },
  (table) => [
    uniqueIndex("points_of_series").on(table.seriesNo, table.atMs, table.sourceId),
    // Runs are few among live requests, and asked for apart from these.
    index("points_of_run")
      .on(table.runId)
      .where(sql`run_id is not null`),
    index("points_of_runs")
      .on(table.seriesNo, table.atMs)
      .where(sql`run_id is not null`),
  ],
);

/**
 * All points up to `historyState.rolledSeq`, merged by minute, hour, day and four weeks. Stored WITHOUT ROWID, in the order
 * of its key (see the migration), so that a time span is read in one piece.
 */
export const rollups = sqliteTable(
  "rollups",
  {
    seriesNo: integer()
      .notNull()
      .references(() => series.no),
    stepMs: integer().notNull(),
    atMs: integer().notNull(),
    /** The run that all of it came from; null where that is not one. */
    runId: text(),
    count: integer().notNull(),
    min: real().notNull(),
    max: real().notNull(),
    sum: real().notNull(),
    sketch: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.seriesNo, table.stepMs, table.atMs] })],
);

/** How far the work behind the points has come: one row, with id 1. */
export const historyState = sqliteTable("history_state", {
  id: integer().primaryKey(),
  /** Every point up to here is in the rollups, and none behind it. */
  rolledSeq: integer().notNull().default(0),
  /** Grows with every step of it; a step that began before another ended fails by this. */
  rollVersion: integer().notNull().default(0),
  /** Points of live requests up to here are deleted. */
  prunedSeq: integer().notNull().default(0),
  /** Changes were looked for in every series that has points up to here. */
  detectedSeq: integer().notNull().default(0),
  detectVersion: integer().notNull().default(0),
});

/** Rules that points are judged by, beside the search for changes that every series has. */
export const thresholds = sqliteTable("thresholds", {
  id: text().primaryKey(),
  project: text().notNull(),
  /** As JSON (protocol's Threshold). */
  spec: text().notNull(),
  version: integer().notNull(),
  createdAtMs: integer().notNull(),
  updatedAtMs: integer().notNull(),
});

/** What people are shown: one or more changes that came at the same time on the same hardware. */
export const alerts = sqliteTable(
  "alerts",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    state: text().notNull(),
    /** `regression` or `improvement`. */
    direction: text().notNull(),
    fingerprintId: text(),
    /** The span in which its changes may have happened: behind the last old point, up to the first new one. */
    afterMs: integer().notNull(),
    atMs: integer().notNull(),
    note: text(),
    /** Of a finding of the watch: its runner, what it is about, and the finding as JSON; null of changes. */
    runnerId: text(),
    findingKey: text(),
    finding: text(),
    version: integer().notNull().default(1),
    createdAtMs: integer().notNull(),
    updatedAtMs: integer().notNull(),
  },
  (table) => [
    index("alerts_by_time").on(table.project, table.createdAtMs, table.id),
    index("alerts_of_fingerprint").on(table.fingerprintId, table.atMs),
    index("alerts_of_finding").on(table.runnerId, table.findingKey),
  ],
);

/** Detected shifts, each of one series; found again, a change is recognised by its place. */
export const changes = sqliteTable(
  "changes",
  {
    id: text().primaryKey(),
    seriesNo: integer()
      .notNull()
      .references(() => series.no),
    alertId: text()
      .notNull()
      .references(() => alerts.id),
    /** The rule that was broken; null for a change point. */
    thresholdId: text(),
    kind: text().notNull(),
    direction: text().notNull(),
    /** Last point of the old regime, first of the new one. */
    afterMs: integer().notNull(),
    atMs: integer().notNull(),
    runId: text(),
    revision: text(),
    /** As JSON: from, to, size, confidence (protocol's ChangeEvidence). */
    evidence: text().notNull(),
    createdAtMs: integer().notNull(),
  },
  (table) => [index("changes_of_series").on(table.seriesNo, table.atMs), index("changes_of_alert").on(table.alertId)],
);

/** Names for what later runs are held against. */
export const baselines = sqliteTable(
  "baselines",
  {
    project: text().notNull(),
    name: text().notNull(),
    /** As JSON (protocol's Baseline): a run, a label or a window. */
    spec: text().notNull(),
    version: integer().notNull(),
    updatedAtMs: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.project, table.name] })],
);

export const webhooks = sqliteTable("webhooks", {
  id: text().primaryKey(),
  project: text().notNull(),
  url: text().notNull(),
  /** Signs what is sent, so it is kept as it is. */
  secret: text().notNull(),
  /** As JSON (protocol's WebhookInput, less url). */
  spec: text().notNull(),
  createdAtMs: integer().notNull(),
  /** Set when its receiver said that it is gone for good. */
  disabledAtMs: integer(),
});

/** Messages to webhooks; the pending ones are tried until they arrive or have been tried too often. */
export const webhookDeliveries = sqliteTable(
  "webhook_deliveries",
  {
    id: text().primaryKey(),
    webhookId: text()
      .notNull()
      .references(() => webhooks.id),
    alertId: text().notNull(),
    body: text().notNull(),
    attempts: integer().notNull().default(0),
    /** Null once it has arrived or was given up. */
    nextAtMs: integer(),
    deliveredAtMs: integer(),
    lastOutcome: text(),
    createdAtMs: integer().notNull(),
  },
  (table) => [
    index("webhook_deliveries_due").on(table.nextAtMs),
    index("webhook_deliveries_by_time").on(table.webhookId, table.createdAtMs),
  ],
);

/** Exports and imports that are under way; what is tended by the minute waits for them. */
export const transfers = sqliteTable("transfers", {
  id: text().primaryKey(),
  kind: text().$type<"export" | "import">().notNull(),
  /** Of an import: the export that is read in; begun again, it is the same import. */
  exportId: text(),
  /** Last numbers of the tables that only grow: an export ends there. */
  upTo: text({ mode: "json" }).$type<Record<string, number>>().notNull(),
  touchedAtMs: integer().notNull(),
});
