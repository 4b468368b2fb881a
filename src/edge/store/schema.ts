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
import type { ModelFile } from "../../protocol/models/upload.ts";
import type { PolicyCard } from "../../protocol/models/policy-network.ts";
import type { Population } from "../../protocol/policies/population.ts";
import type { Problem } from "../../protocol/wire/problem.ts";
import type { ProfileInput } from "../../protocol/fleet/profile.ts";
import type { QuotaLimits } from "../../protocol/service/quota.ts";
import type { RequirementSetInput } from "../../protocol/models/requirement.ts";
import type { RunnerQuarantine } from "../../protocol/fleet/runner.ts";
import type { SubmittedKernel } from "../../protocol/kernels/submitted-kernel.ts";
import type { DType } from "../../protocol/wire/tensor.ts";
import type { Tuning } from "../../protocol/jobs/tuning.ts";

/** The source of migrations/: change it here, then `npm run db:generate`. Times are Unix milliseconds. */

/** Tenants other than `main`, the operator's own, which always exists; other tables name them in `project`. */
export const projects = sqliteTable("projects", {
  name: text().primaryKey(),
  createdAtMs: integer().notNull(),
  /** Set when its keys were closed; its rows stay. */
  closedAtMs: integer(),
});

/** Limits that the operator set for a project; one that is not here has its default. */
export const projectQuotas = sqliteTable("project_quotas", {
  project: text().primaryKey(),
  limits: text({ mode: "json" }).$type<QuotaLimits>().notNull(),
});

/**
 * Counts of what a project has too much of to be counted when it makes one more. Triggers on `series`, `runs` and
 * `reports` keep them (see the migration).
 */
export const projectCounts = sqliteTable("project_counts", {
  project: text().primaryKey(),
  series: integer().notNull().default(0),
  /** Of jobs and of reports. */
  runs: integer().notNull().default(0),
  /** Points of reports, and those of them that came on `day`, counted in days since 1970 in UTC. */
  points: integer().notNull().default(0),
  day: integer().notNull().default(0),
  pointsOfDay: integer().notNull().default(0),
});

/** Audit log: every request of an administrator that may change something. */
export const auditEntries = sqliteTable(
  "audit_entries",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    /** Key of the caller; null where none was needed. */
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

export const keys = sqliteTable(
  "keys",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    hash: text().notNull().unique(),
    name: text().notNull(),
    scopes: text({ mode: "json" }).$type<Scope[]>().notNull(),
    createdAtMs: integer().notNull(),
    revokedAtMs: integer(),
    /** Hash of the secret before a rotation, and the time until which it works. */
    previousHash: text().unique(),
    previousUntilMs: integer(),
    /** Null: the default limit of keys. */
    requestsPerSecond: real(),
    /** Precise to some minutes. */
    lastUsedAtMs: integer(),
  },
  (table) => [index("keys_of_project").on(table.project, table.revokedAtMs)],
);

export const registrationTokens = sqliteTable(
  "registration_tokens",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    hash: text().notNull().unique(),
    expiresAtMs: integer().notNull(),
    usedByRunnerId: text(),
  },
  (table) => [
    // Those that a runner may still spend, or that have expired.
    index("registration_tokens_of_project")
      .on(table.project, table.expiresAtMs)
      .where(sql`used_by_runner_id is null`),
  ],
);

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
    /** Last decision of the queue; it ends by itself. */
    quarantine: text({ mode: "json" }).$type<RunnerQuarantine>(),
    /** True if it works for other projects, too. */
    shared: integer({ mode: "boolean" }).notNull().default(false),
    /** True if it removes itself when it has done its work, and is removed if it vanishes. */
    ephemeral: integer({ mode: "boolean" }).notNull().default(false),
    version: integer().notNull().default(1),
    createdAtMs: integer().notNull(),
    connectedAtMs: integer(),
    lastSeenAtMs: integer(),
    removedAtMs: integer(),
  },
  (table) => [
    index("runners_by_name").on(table.name),
    // Few rows, looked through every minute.
    index("runners_ephemeral")
      .on(table.id)
      .where(sql`ephemeral = 1 and removed_at_ms is null`),
    index("runners_of_project")
      .on(table.project)
      .where(sql`removed_at_ms is null`),
    index("runners_shared")
      .on(table.id)
      .where(sql`shared = 1 and removed_at_ms is null`),
  ],
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

/** Named sets of requirements. */
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
    /** Number of parameters of a dense network that the edge can compute itself; null for others. */
    edgeParameters: integer(),
    /** Summary of its file; null where it was stored before summaries existed. */
    summary: text({ mode: "json" }).$type<ModelSummary>(),
    /** Files of a large model, whose digest is that of the list if they are several; null of all others. */
    files: text({ mode: "json" }).$type<ModelFile[]>(),
    /** Origin and results; usually null. */
    card: text({ mode: "json" }).$type<PolicyCard>(),
    createdAtMs: integer().notNull(),
  },
  (table) => [
    uniqueIndex("model_versions_by_version").on(table.modelId, table.version),
    uniqueIndex("model_versions_by_digest").on(table.modelId, table.digest),
    index("model_versions_of_digest").on(table.digest),
    // Few of them are large.
    index("model_versions_with_files")
      .on(table.modelId)
      .where(sql`files is not null`),
  ],
);

/** Further files of a version; its own is `fp32`, in the version's row. */
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
    /** Recipe and job that made it; null for an upload. */
    recipe: text({ mode: "json" }).$type<Recipe>(),
    /** Measurement of that job. */
    measured: text({ mode: "json" }).$type<MeasuredFidelity>(),
    jobId: text(),
    createdAtMs: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.modelVersionId, table.name] }),
    index("model_variants_of_digest").on(table.digest),
  ],
);

/** Held-out samples of a version, for measuring its variants. */
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

/** Large files that are sent in parts, and those that are stored and no model names yet. */
export const uploads = sqliteTable(
  "uploads",
  {
    project: text().notNull(),
    digest: text().notNull(),
    sizeBytes: integer().notNull(),
    /** Null until its digest was checked. */
    storedAtMs: integer(),
    touchedAtMs: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.project, table.digest] }),
    index("uploads_of_digest").on(table.digest),
    index("uploads_by_touch").on(table.touchedAtMs),
  ],
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
    /** As JSON (protocol's SweepStep[] and Distribution): parsed by their readers. */
    sweep: text().notNull(),
    /** As JSON (protocol's SizeSweep[]); null: measured at one size. */
    sizes: text(),
    linkMs: text().notNull(),
    memory: text({ mode: "json" }).$type<MemoryFit>(),
    loadMs: real().notNull(),
    /** As JSON (protocol's ServingConfiguration); null: the default of every placement. */
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

/** Kernels that users submitted; only the findings in a row change. */
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
    /** Name or id of the kernel that it competes with; its own id where there is none. */
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

/** Files of jobs beside their results; each is an artifact. */
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
  (table) => [
    primaryKey({ columns: [table.jobId, table.name] }),
    index("job_artifacts_of_digest").on(table.digest),
    index("job_artifacts_of_project").on(table.project, table.digest, table.sizeBytes),
  ],
);

/** Archives of quality diversity, each with its file. */
export const archives = sqliteTable(
  "archives",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    /** Job that made it. */
    jobId: text(),
    digest: text().notNull(),
    sizeBytes: integer().notNull(),
    summary: text({ mode: "json" }).$type<ArchiveSummary>().notNull(),
    createdAtMs: integer().notNull(),
  },
  (table) => [
    index("archives_of_job").on(table.jobId),
    index("archives_of_project").on(table.project, table.digest, table.sizeBytes),
  ],
);

/** Memories of items as holographic vectors; each artifact holds some of the vectors. */
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

/** Pools of agents, with their states in an artifact. */
export const agentPools = sqliteTable(
  "agent_pools",
  {
    project: text().notNull(),
    name: text().notNull(),
    spec: text({ mode: "json" }).$type<AgentPoolSpec>().notNull(),
    /** Digest of float32[agents, stateSize]; null: every number is zero. */
    digest: text(),
    generation: integer().notNull(),
    version: integer().notNull(),
    createdAtMs: integer().notNull(),
    updatedAtMs: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.project, table.name] })],
);

/** Best run of each kernel that does the work of `reference`, by shape, device and clock. */
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

/** One successful execution of a job; a job has at most one. */
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

/** Reported run from outside; those of jobs are in `runs`. */
export const reports = sqliteTable(
  "reports",
  {
    /** Derived from owner and name: reported again, it is the same run. */
    id: text().primaryKey(),
    project: text().notNull(),
    ownerId: text().notNull(),
    name: text().notNull(),
    /** Digest of the measurements as sent, which distinguishes a repetition from another run of the same name. */
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
    /** Number of the series in the tables of its points, where an id would be most of a row. */
    no: integer().primaryKey({ autoIncrement: true }),
    /** Digest of the key: the same key, the same series. */
    id: text().notNull().unique(),
    project: text().notNull(),
    subjectKind: text().notNull(),
    subject: text().notNull(),
    metric: text().notNull(),
    /** Null where the key has none, or the series is older than this column. */
    fingerprintId: text(),
    label: text(),
    /** The whole key as JSON (protocol's SeriesKey). */
    key: text().notNull(),
    createdAtMs: integer().notNull(),
    /** Count of the points up to `historyState.rolledSeq`. */
    points: integer().notNull().default(0),
    lastPointAtMs: integer(),
    /** Changes of a muted series raise no alert. */
    mutedAtMs: integer(),
    /** Time of the last search for changes, and the last point that it read. */
    detectedAtMs: integer(),
    detectedSeq: integer().notNull().default(0),
  },
  (table) => [
    index("series_by_subject").on(table.subject, table.metric),
    index("series_by_time").on(table.project, table.createdAtMs, table.id),
    index("series_by_fingerprint").on(table.fingerprintId),
  ],
);

/** Measurements, in order of arrival. */
export const points = sqliteTable(
  "points",
  {
    /** Grows with every point, whatever the time of its measurement. */
    seq: integer().primaryKey({ autoIncrement: true }),
    seriesNo: integer()
      .notNull()
      .references(() => series.no),
    atMs: integer().notNull(),
    /** Id that the measuring side gave: the same point sent twice is stored once. */
    sourceId: text().notNull(),
    /** Null for points of live requests, which are kept for some days; points of runs stay. */
    runId: text(),
    /** Commit or other version of the measured subject. */
    revision: text(),
    count: integer().notNull(),
    min: real().notNull(),
    max: real().notNull(),
    sum: real().notNull(),
    sketch: text().notNull(),
  },
  (table) => [
    uniqueIndex("points_of_series").on(table.seriesNo, table.atMs, table.sourceId),
    // Runs are rare among live requests, and queried separately.
    index("points_of_run")
      .on(table.runId)
      .where(sql`run_id is not null`),
    index("points_of_runs")
      .on(table.seriesNo, table.atMs)
      .where(sql`run_id is not null`),
  ],
);

/**
 * All points up to `historyState.rolledSeq`, merged by hour, day and four weeks, each with the next finer rollups as
 * its parts; minutes are parts alone. Stored WITHOUT ROWID, in the order of its key (see the migration), so that a time
 * span is contiguous.
 */
export const rollups = sqliteTable(
  "rollups",
  {
    seriesNo: integer()
      .notNull()
      .references(() => series.no),
    stepMs: integer().notNull(),
    atMs: integer().notNull(),
    /** Run of all its points; null where they have several or none. */
    runId: text(),
    count: integer().notNull(),
    min: real().notNull(),
    max: real().notNull(),
    sum: real().notNull(),
    sketch: text().notNull(),
    /** The next finer rollups within it as one text (`rollup-pack.ts`); null if older than this column. */
    parts: text(),
  },
  (table) => [
    primaryKey({ columns: [table.seriesNo, table.stepMs, table.atMs] }),
    // Those of days and four weeks still to be packed: none after an upgrade's first minutes.
    index("rollups_unpacked")
      .on(table.stepMs)
      .where(sql`parts is null and step_ms > 3600000`),
  ],
);

/** Progress of the work on new points: one row, with id 1. */
export const historyState = sqliteTable("history_state", {
  id: integer().primaryKey(),
  /** Every point up to here is in the rollups, and no later one. */
  rolledSeq: integer().notNull().default(0),
  /** Grows with every step, so that concurrent steps fail. */
  rollVersion: integer().notNull().default(0),
  /** Points of live requests up to here are deleted. */
  prunedSeq: integer().notNull().default(0),
  /** Every series with points up to here was searched for changes. */
  detectedSeq: integer().notNull().default(0),
  detectVersion: integer().notNull().default(0),
});

/**
 * Random mark of the last change to what admission reads: one row, with id 1. Triggers write a new one when a row of
 * projects, profiles, models, their versions and variants, runners or placements is added, changed or deleted; a runner's
 * signs of life leave it. A count would repeat after a database was restored to an earlier time.
 */
export const servingState = sqliteTable("serving_state", {
  id: integer().primaryKey(),
  changed: text().notNull(),
});

/** Rules for points, in addition to the search for changes of every series. */
export const thresholds = sqliteTable(
  "thresholds",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    /** As JSON (protocol's Threshold). */
    spec: text().notNull(),
    version: integer().notNull(),
    createdAtMs: integer().notNull(),
    updatedAtMs: integer().notNull(),
  },
  (table) => [index("thresholds_of_project").on(table.project)],
);

/** Alerts: one or more changes at the same time on the same hardware. */
export const alerts = sqliteTable(
  "alerts",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    state: text().notNull(),
    /** `regression` or `improvement`. */
    direction: text().notNull(),
    fingerprintId: text(),
    /** Possible span of its changes: after the last old point, up to the first new one. */
    afterMs: integer().notNull(),
    atMs: integer().notNull(),
    note: text(),
    /** Runner, subject and JSON of a finding of the watch; null for changes. */
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

/** Detected shifts, each of one series; a change found again is matched by its place. */
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
    /** Broken rule; null for a change point. */
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

/** Named references for later runs. */
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

export const webhooks = sqliteTable(
  "webhooks",
  {
    id: text().primaryKey(),
    project: text().notNull(),
    url: text().notNull(),
    /** Key of the signatures, so it is stored in the clear. */
    secret: text().notNull(),
    /** As JSON (protocol's WebhookInput, less url). */
    spec: text().notNull(),
    createdAtMs: integer().notNull(),
    /** Set when its receiver said that it is gone for good. */
    disabledAtMs: integer(),
  },
  (table) => [index("webhooks_of_project").on(table.project)],
);

/** Messages to webhooks; pending ones are tried until they arrive or the attempts are used up. */
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

/** Running exports and imports; the upkeep of each minute waits for them. */
export const transfers = sqliteTable("transfers", {
  id: text().primaryKey(),
  kind: text().$type<"export" | "import">().notNull(),
  /** The export that an import reads; a restarted import is the same one. */
  exportId: text(),
  /** Last numbers of the append-only tables: an export ends there. */
  upTo: text({ mode: "json" }).$type<Record<string, number>>().notNull(),
  touchedAtMs: integer().notNull(),
});
