import { z } from "zod";
import { Distribution } from "../wire/distribution.ts";
import { idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { Instant, Name } from "../wire/page.ts";
import { Backend, DeviceKey } from "./hardware.ts";
import { ServingConfiguration } from "./serving.ts";

const count = z.number().int().min(0);
const share = z.number().min(0);

/** Clock and temperature of one processor, where they can be read; null where not. */
export const Sensor = z
  .object({
    of: DeviceKey.meta({ description: "`cpu`, or the key of a GPU" }),
    clockMhz: z.number().nullable(),
    maxClockMhz: z.number().nullable(),
    temperatureC: z.number().nullable(),
    limitC: z.number().nullable().meta({ description: "Where it slows itself down" }),
    utilisation: share.nullable().meta({ description: "As the driver tells it" }),
    throttled: z.string().max(128).nullable().meta({ description: "Why it slows itself down now, as it says itself" }),
    source: z.string().max(64).meta({ description: "Where this was read, such as `sysfs`" }),
  })
  .meta({ id: "Sensor" });
export type Sensor = z.infer<typeof Sensor>;

/** Figures of a device's kernels from the last benchmark or throughput job there; null where unknown. */
export const KernelHealth = z
  .object({
    at: Instant,
    kernel: Name,
    occupancyShare: share.nullable().meta({
      description: "Of the threads that a core of the GPU can hold, as predicted; absent architectures are null",
    }),
    bandwidthShare: share.nullable().meta({ description: "Of the memory bandwidth that was measured there" }),
    arithmeticShare: share.nullable().meta({ description: "Of the peak arithmetic that was measured there" }),
    submissionsPerSecond: z.number().nullable().meta({ description: "Of a throughput job" }),
    synchronisationShare: share
      .nullable()
      .meta({ description: "Of the time from submission to answer, in which the GPU did not compute" }),
  })
  .meta({ id: "KernelHealth" });
export type KernelHealth = z.infer<typeof KernelHealth>;

/** One device in the span of a report. Shares are of the span. Probes of the watch are not among its figures. */
export const DeviceHealth = z
  .object({
    deviceKey: DeviceKey,
    busyShare: share.meta({ description: "In which a batch was under way" }),
    computeShare: share.meta({ description: "In which it computed" }),
    transferShare: share.meta({
      description:
        "In which the device's process moved inputs and outputs; what is left of the busy share is the host's",
    }),
    requests: count.meta({ description: "That came, those of jobs among them" }),
    batches: count,
    rows: count,
    refused: count.meta({ description: "Let in by nobody, or pushed out or given up in the queue" }),
    errors: count.meta({ description: "That failed while they were computed" }),
    waiting: count.meta({ description: "Requests in the queue now" }),
    computing: count.optional().meta({ description: "Requests that are computed now; absent from an older runner" }),
    longestWaiting: count.meta({ description: "At any time in the span" }),
    queueMs: Distribution.nullable(),
    restarts: count.meta({ description: "Of its process, since the runner started" }),
    processRssBytes: z.number().nullable(),
    processCpuShare: share.nullable().meta({ description: "Of one core" }),
    kernels: KernelHealth.nullable().meta({ description: "Null where no such job ran since the runner started" }),
  })
  .meta({ id: "DeviceHealth" });
export type DeviceHealth = z.infer<typeof DeviceHealth>;

/** Latency of a placement in the watch's own probes: one row of seeded inputs, at a low rate. */
export const PlacementHealth = z
  .object({
    modelVersionId: idSchema("modelVersion"),
    variant: Name,
    deviceKey: DeviceKey,
    backend: Backend,
    configuration: ServingConfiguration,
    probes: count,
    errors: count,
    serviceMs: Distribution.nullable().meta({ description: "Of the probes, without waiting" }),
    computeMs: Distribution.nullable(),
  })
  .meta({ id: "PlacementHealth" });
export type PlacementHealth = z.infer<typeof PlacementHealth>;

/**
 * State of a runner over the time since its last report. A report sent on request looks back to the report before the
 * last and does not count for the next one, so the spans of regular reports have no gap and no overlap.
 */
export const HealthReport = z
  .object({
    at: Instant,
    startedAt: Instant.meta({ description: "When the runner's process began: what was before says nothing of it" }),
    spanMs: z.number().min(0),
    jobShare: share.meta({ description: "In which a job ran here; nothing is probed then" }),
    host: z.object({
      logicalCores: z.number().int().min(1),
      loadAverage: z.number(),
      busyShare: share.meta({ description: "Of all cores, by whatever process" }),
      ownShare: share.nullable().meta({
        description: "Of all cores, by the runner and its devices' processes; null where the system does not tell",
      }),
      freeBytes: z.number(),
      memoryBytes: z.number(),
      ownRssBytes: z.number().nullable().meta({ description: "Of all of them; shared pages count in each" }),
      eventLoopLagMs: z.number().meta({ description: "The 99th percentile of how late the runner's timers were" }),
    }),
    sensors: z.array(Sensor).max(LIMITS.watchedSensors),
    devices: z.array(DeviceHealth).max(LIMITS.devices),
    placements: z.array(PlacementHealth).max(LIMITS.watchedPlacements),
    memory: z.object({
      pageOuts: count.meta({ description: "Items that left a tier in the span for want of room" }),
      migrationBytes: count,
    }),
  })
  .meta({ id: "HealthReport" });
export type HealthReport = z.infer<typeof HealthReport>;

/** Kinds of finding; docs/methodology.md defines how each is recognised. */
export const FindingKind = z
  .enum([
    "thermal-throttling",
    "host-contention",
    "slow-backend",
    "latency-drift",
    "low-utilisation",
    "memory-growth",
    "errors",
    "queueing",
  ])
  .meta({ id: "FindingKind" });
export type FindingKind = z.infer<typeof FindingKind>;

/** Something that is wrong, with its measured value, what it should be, and what to do about it. */
export const Finding = z
  .object({
    kind: FindingKind,
    runnerId: idSchema("runner"),
    deviceKey: DeviceKey.nullable(),
    placementId: idSchema("placement").nullable(),
    subject: z.string().nullable().meta({ description: "`lenet5@1 int8 on cpu by ort-cpu`" }),
    cause: z
      .enum(["small-batches", "host-bound", "synchronisation", "transfer-bound"])
      .nullable()
      .meta({ description: "Of low utilisation: what is most likely behind it" }),
    measured: z.number(),
    expected: z.number(),
    unit: z.string().max(32),
    detail: z.string().max(512),
    advice: z.string().max(512).meta({ description: "Names the setting to change" }),
    since: Instant,
    at: Instant,
  })
  .meta({ id: "Finding" });
export type Finding = z.infer<typeof Finding>;

/** One line of a diagnosis. */
export const DiagnosisCheck = z
  .object({
    check: z.enum([
      "utilisation",
      "occupancy",
      "bandwidthShare",
      "pageOuts",
      "queueDepth",
      "hostLoad",
      "memoryGrowth",
      "errorRate",
      "p99",
      "throttling",
    ]),
    deviceKey: DeviceKey.nullable(),
    placementId: idSchema("placement").nullable(),
    measured: z.number().nullable().meta({ description: "Null where it cannot be measured here" }),
    limit: z.number().nullable(),
    unit: z.string().max(32),
    outcome: z.enum(["pass", "fail", "unknown"]),
    detail: z.string().max(512),
    advice: z.string().max(512).nullable(),
  })
  .meta({ id: "DiagnosisCheck" });
export type DiagnosisCheck = z.infer<typeof DiagnosisCheck>;

/** Current state of a runner: a checklist and the watch's findings. */
export const Diagnosis = z
  .object({
    runnerId: idSchema("runner"),
    online: z.boolean(),
    reportedAt: Instant,
    fresh: z.boolean().meta({ description: "Whether it told so just now; else this is what it told last" }),
    healthy: z.boolean().meta({ description: "Whether no check failed and nothing is found" }),
    checks: z.array(DiagnosisCheck),
    findings: z.array(Finding),
    report: HealthReport,
  })
  .meta({ id: "Diagnosis" });
export type Diagnosis = z.infer<typeof Diagnosis>;

/** The fast-changing part of a health report, sent each second. */
export const LiveReport = HealthReport.omit({ placements: true, memory: true })
  .extend({ devices: z.array(DeviceHealth.omit({ queueMs: true, kernels: true })).max(LIMITS.devices) })
  .meta({ id: "LiveReport" });
export type LiveReport = z.infer<typeof LiveReport>;

/**
 * One event of `GET /v1/runners/{id}/live`: whether the runner is connected, first and whenever that changes, and how
 * it is, every second. The server-sent event's name is `type`, its data this object.
 */
export const LiveEvent = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("online") }),
    z.object({ type: z.literal("offline") }),
    z.object({ type: z.literal("report"), report: LiveReport }),
  ])
  .meta({ id: "LiveEvent" });
export type LiveEvent = z.infer<typeof LiveEvent>;
