import { index, integer, primaryKey, real, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { Clock } from "../../protocol/distribution.ts";
import type { Capabilities, Fingerprint } from "../../protocol/hardware.ts";
import type { Scope } from "../../protocol/key.ts";
import type { MemoryFit, TensorSpec } from "../../protocol/model.ts";
import type { PlacementRule } from "../../protocol/placement-rule.ts";
import type { Problem } from "../../protocol/problem.ts";
import type { ProfileInput } from "../../protocol/profile.ts";
import type { SubmittedKernel } from "../../protocol/submitted-kernel.ts";
import type { DType } from "../../protocol/tensor.ts";
import type { Tuning } from "../../protocol/tuning.ts";

/** The source of migrations/: change it here, then `npm run db:generate`. Times are Unix milliseconds. */

export const keys = sqliteTable("keys", {
  id: text().primaryKey(),
  hash: text().notNull().unique(),
  name: text().notNull(),
  scopes: text({ mode: "json" }).$type<Scope[]>().notNull(),
  createdAtMs: integer().notNull(),
  revokedAtMs: integer(),
});

export const registrationTokens = sqliteTable("registration_tokens", {
  id: text().primaryKey(),
  hash: text().notNull().unique(),
  expiresAtMs: integer().notNull(),
  usedByRunnerId: text(),
});

export const runners = sqliteTable(
  "runners",
  {
    id: text().primaryKey(),
    name: text().notNull(),
    credentialHash: text().notNull().unique(),
    /** Set while a rotation is under way: becomes the credential when it is first used. */
    nextCredentialHash: text().unique(),
    labels: text({ mode: "json" }).$type<Record<string, string>>().notNull(),
    capabilities: text({ mode: "json" }).$type<Capabilities>(),
    online: integer({ mode: "boolean" }).notNull().default(false),
    draining: integer({ mode: "boolean" }).notNull().default(false),
    version: integer().notNull().default(1),
    createdAtMs: integer().notNull(),
    connectedAtMs: integer(),
    lastSeenAtMs: integer(),
    removedAtMs: integer(),
  },
  (table) => [index("runners_by_name").on(table.name)],
);

export const profiles = sqliteTable("profiles", {
  name: text().primaryKey(),
  spec: text({ mode: "json" }).$type<ProfileInput>().notNull(),
  version: integer().notNull(),
  updatedAtMs: integer().notNull(),
});

export const models = sqliteTable("models", {
  id: text().primaryKey(),
  name: text().notNull().unique(),
  /** Null: automatic. */
  placementRule: text({ mode: "json" }).$type<PlacementRule>(),
  createdAtMs: integer().notNull(),
});

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
    createdAtMs: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.modelVersionId, table.name] }),
    index("model_variants_of_digest").on(table.digest),
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
    /** As JSON (protocol's SweepStep[] and Distribution): parsed where they are read. */
    sweep: text().notNull(),
    linkMs: text().notNull(),
    memory: text({ mode: "json" }).$type<MemoryFit>(),
    loadMs: real().notNull(),
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

/** The best run of each kernel that does the work of `reference`, by shape, device and clock. */
export const standings = sqliteTable(
  "standings",
  {
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
      columns: [table.reference, table.fingerprintId, table.shape, table.dtype, table.clock, table.kernel],
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
    id: text().primaryKey(),
    kernel: text().notNull(),
    fingerprintId: text().notNull(),
    jobId: text().notNull(),
    runnerId: text().notNull(),
    tuning: text({ mode: "json" }).$type<Tuning>().notNull(),
    storedAtMs: integer().notNull(),
  },
  (table) => [index("tunings_by_time").on(table.storedAtMs, table.id), index("tunings_of_kernel").on(table.kernel)],
);

/** One execution of a job that ended well; a job has at most one. */
export const runs = sqliteTable(
  "runs",
  {
    id: text().primaryKey(),
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

export const series = sqliteTable(
  "series",
  {
    /** Digest of the key: the same key, the same series. */
    id: text().primaryKey(),
    subjectKind: text().notNull(),
    subject: text().notNull(),
    metric: text().notNull(),
    /** The whole key as JSON (protocol's SeriesKey). */
    key: text().notNull(),
    createdAtMs: integer().notNull(),
  },
  (table) => [
    index("series_by_subject").on(table.subject, table.metric),
    index("series_by_time").on(table.createdAtMs, table.id),
  ],
);

export const points = sqliteTable(
  "points",
  {
    seriesId: text()
      .notNull()
      .references(() => series.id),
    atMs: integer().notNull(),
    /** Of whoever measured: the same point sent twice is stored once. */
    sourceId: text().notNull(),
    runId: text(),
    count: integer().notNull(),
    min: real().notNull(),
    max: real().notNull(),
    sum: real().notNull(),
    sketch: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.seriesId, table.sourceId] }),
    index("points_of_series").on(table.seriesId, table.atMs),
    index("points_by_time").on(table.atMs),
  ],
);
