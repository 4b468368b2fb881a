import { z } from "zod";
import { OfferedEnvironment } from "./policies/environment-definition.ts";
import { ComputeOffer } from "./inference/compute.ts";
import { EDGE_VARIANTS } from "./models/edge-place.ts";
import { faultFields } from "./wire/fault.ts";
import { Backend, Capabilities, DeviceKey } from "./fleet/hardware.ts";
import { HealthReport, LiveReport } from "./fleet/health.ts";
import { idSchema } from "./wire/id.ts";
import { ServiceTimes } from "./inference/inference.ts";
import { JobProgress, JobResult, JobSpec } from "./jobs/job.ts";
import { KernelProgram } from "./kernels/kernel-definition.ts";
import { LIMITS } from "./wire/limits.ts";
import { MemoryReport } from "./fleet/memory.ts";
import { TensorSpec } from "./models/model.ts";
import { ModelFile } from "./models/upload.ts";
import { Problem } from "./wire/problem.ts";
import { Roofline } from "./fleet/roofline.ts";
import { ServingConfiguration } from "./fleet/serving.ts";
import { TensorHeader } from "./wire/tensor.ts";
import { DirectOutcome } from "./inference/ticket.ts";

/**
 * The socket between a runner and the edge; docs/protocol.md is the written specification.
 * Text messages are JSON, binary messages are frames (see frame.ts). Both ends parse what they get.
 */
export const LINK_VERSION = 1;
export const LINK_SUBPROTOCOL = `millrace.v${LINK_VERSION}`;

/** Pings that are missed before the other end counts as dead. */
export const SILENT_PINGS = 3;

/** Liveness probe: plain text, answered by the platform without waking the object. */
export const PING = "ping";
export const PONG = "pong";

/** A lease that is held: the epoch distinguishes a late result of an older lease. */
export const Lease = z.object({ jobId: idSchema("job"), epoch: z.number().int().min(1) });
export type Lease = z.infer<typeof Lease>;

/** A model that the runner keeps loaded. */
export const PlacedModel = z.object({
  modelVersionId: idSchema("modelVersion"),
  /** The first is the version's own file. */
  variants: z
    .array(
      z.object({
        name: z.string(),
        digest: z.string(),
        /** Absent from an older edge. */
        sizeBytes: z.number().int().optional(),
        /** Of a large model, and only of it: files that are read from the disk. */
        files: z.array(ModelFile).min(1).optional(),
      }),
    )
    .min(1),
  inputs: z.array(TensorSpec),
  outputs: z.array(TensorSpec),
  /** Number of its project: projects share a device evenly. Absent from an older edge. */
  tenant: z.number().int().optional(),
  /** Its places on this runner; absent where the message is about something else, and from an older edge. */
  places: z
    .array(
      z.object({
        deviceKey: DeviceKey,
        variant: z.string(),
        /** Absent: the one that every placement begins with. */
        configuration: ServingConfiguration.optional(),
      }),
    )
    .optional(),
});
export type PlacedModel = z.infer<typeof PlacedModel>;

/** Intervals that the edge dictates, in milliseconds. */
export const Intervals = z.object({
  pingMs: z.number().int().positive(),
  heartbeatMs: z.number().int().positive(),
  leaseMs: z.number().int().positive(),
  resendMs: z.number().int().positive(),
  /** Interval of health reports; absent from an older edge: none are sent. */
  watchMs: z.number().int().positive().optional(),
});
export type Intervals = z.infer<typeof Intervals>;

const Hello = z.object({
  type: z.literal("hello"),
  capabilities: Capabilities,
  running: z.array(Lease).max(64),
  /** Jobs that it still takes; absent: any number, and from an older runner. */
  jobsLeft: z.number().int().min(0).max(1).optional(),
});

/** New capabilities of the runner since its hello: a kernel entered or left quarantine. */
const CapabilitiesMessage = z.object({ type: z.literal("capabilities"), capabilities: Capabilities });

const Heartbeat = z.object({
  type: z.literal("heartbeat"),
  running: z.array(Lease).max(64),
});

/** The runner finishes what it has, and then goes: it shall get no more jobs. Its next hello says otherwise. */
const Leaving = z.object({ type: z.literal("leaving") });

const JobProgressMessage = z.object({
  type: z.literal("jobProgress"),
  lease: Lease,
  progress: JobProgress,
});

/** Sent again every `resendMs` until `jobSettled` answers it. */
const JobOutcome = z.object({
  type: z.literal("jobOutcome"),
  lease: Lease,
  outcome: z.discriminatedUnion("ok", [
    z.object({
      ok: z.literal(true),
      result: JobResult,
      deviceKey: z.string(),
      startedAt: z.iso.datetime(),
      /** The trace that was asked for, as JSON text: it is kept as it comes. */
      trace: z.string().optional(),
      /** Samples as JSON text (RunSamples). An invalid or too large set is dropped. */
      samples: z.string().optional(),
    }),
    z.object({
      ok: z.literal(false),
      problem: Problem,
      /** The offer came when the runner took no more: the job was not begun, and the lease is no attempt. */
      declined: z.literal(true).optional(),
    }),
  ]),
});
export type JobOutcome = z.infer<typeof JobOutcome>;

/** The roofs of a device were measured; `hello` holds those that were known before. */
const DeviceRoofline = z.object({ type: z.literal("deviceRoofline"), deviceKey: z.string(), roofline: Roofline });

const InferFailed = z.object({
  type: z.literal("inferFailed"),
  requestId: idSchema("request"),
  problem: Problem,
});

/** Asks the edge to send the same back: measures the link. */
const Echo = z.object({ type: z.literal("echo"), id: z.number().int() });

/** Answers `memoryRequest`. */
const MemoryReportMessage = z.object({
  type: z.literal("memoryReport"),
  requestId: idSchema("request"),
  report: MemoryReport,
});

/** Health report: every `watchMs`, and in answer to `healthRequest`. */
const HealthMessage = z.object({
  type: z.literal("health"),
  requestId: idSchema("request").nullable(),
  report: HealthReport,
});
export type HealthMessage = z.infer<typeof HealthMessage>;

/** Health report of the last second, while a `liveRequest` is in force; a lost one is not sent again. */
const LiveMessage = z.object({ type: z.literal("live"), report: LiveReport });

/** Outcomes of ticket requests, in order; a lost message is not sent again. */
const DirectOutcomes = z.object({
  type: z.literal("directOutcomes"),
  outcomes: z.array(DirectOutcome).min(1).max(LIMITS.directOutcomes),
});

export const RunnerMessage = z.discriminatedUnion("type", [
  Hello,
  CapabilitiesMessage,
  Heartbeat,
  Leaving,
  JobProgressMessage,
  JobOutcome,
  DeviceRoofline,
  InferFailed,
  Echo,
  MemoryReportMessage,
  HealthMessage,
  LiveMessage,
  DirectOutcomes,
]);
export type RunnerMessage = z.infer<typeof RunnerMessage>;

const Welcome = z.object({
  type: z.literal("welcome"),
  runnerId: idSchema("runner"),
  /** The edge's release; absent from an older edge. */
  version: z.string().max(64).optional(),
  intervals: Intervals,
  placed: z.array(PlacedModel),
});
export type Welcome = z.infer<typeof Welcome>;

/** A dense network as the edge computes it. */
export const EdgeWork = z.object({ variants: z.array(z.enum(EDGE_VARIANTS)).min(1) });
export type EdgeWork = z.infer<typeof EdgeWork>;

/** The span of the edge that work is asked for within (W3C Trace Context); absent where it is not traced. */
const traceField = { traceparent: z.string().max(64).optional() };

const Offer = z.object({
  type: z.literal("offer"),
  lease: Lease,
  attempt: z.number().int().min(1),
  spec: JobSpec,
  /** The model that a calibration is about. */
  model: PlacedModel.nullable(),
  /** The submitted kernel that a benchmark is about. */
  program: KernelProgram.optional(),
  /** The submitted environment of an evaluation or training. */
  environment: OfferedEnvironment.optional(),
  /** Variants of the model that the edge computes itself and the runner measures too. */
  edge: EdgeWork.optional(),
  ...traceField,
});
export type Offer = z.infer<typeof Offer>;

/** Ends the resending of an outcome, whether it was stored or came too late. */
const JobSettled = z.object({ type: z.literal("jobSettled"), lease: Lease, stored: z.boolean() });

const JobCancel = z.object({ type: z.literal("jobCancel"), lease: Lease });
const InferCancel = z.object({ type: z.literal("inferCancel"), requestId: idSchema("request") });
const EchoReply = z.object({ type: z.literal("echoReply"), id: z.number().int() });
/** Asks what lies in the runner's memory; an older runner ignores it. */
const MemoryRequest = z.object({ type: z.literal("memoryRequest"), requestId: idSchema("request") });
/** Asks how the runner is now; an older runner ignores it. */
const HealthRequest = z.object({ type: z.literal("healthRequest"), requestId: idSchema("request") });
/** Asks for live reports at this interval for this long; 0 ends them. An older runner ignores it. */
const LiveRequest = z.object({
  type: z.literal("liveRequest"),
  everyMs: z.number().int().min(LIMITS.minLiveMs),
  forMs: z.number().int().min(0).max(LIMITS.maxLiveLeaseMs),
});
export type LiveRequest = z.infer<typeof LiveRequest>;
/** New serving configurations; the rest of `welcome` stays in force. */
const Configure = z.object({ type: z.literal("configure"), placed: z.array(PlacedModel) });
export type Configure = z.infer<typeof Configure>;
/** The key of tickets from now on, for a runner with a listener. `atMs` is the edge's clock, which tickets end by. */
const TicketKey = z.object({
  type: z.literal("ticketKey"),
  keyId: z.string().regex(/^[0-9a-f]{16}$/),
  /** 256 random bits, base64url. */
  secret: z.string().length(43),
  atMs: z.number(),
});
export type TicketKey = z.infer<typeof TicketKey>;
const Drain = z.object({ type: z.literal("drain"), draining: z.boolean() });

/** The last message before the edge closes the socket for good. */
const Refused = z.object({ type: z.literal("refused"), problem: Problem });

export const EdgeMessage = z.discriminatedUnion("type", [
  Welcome,
  Offer,
  JobSettled,
  JobCancel,
  InferCancel,
  EchoReply,
  MemoryRequest,
  HealthRequest,
  LiveRequest,
  Configure,
  TicketKey,
  Drain,
  Refused,
]);
export type EdgeMessage = z.infer<typeof EdgeMessage>;

/**
 * Header of the frame that asks a runner for an inference. `budgetMs` is what is left of the budget; requests of higher
 * priority go first.
 */
export const InferOffer = z.object({
  type: z.literal("infer"),
  requestId: idSchema("request"),
  modelVersionId: idSchema("modelVersion"),
  variant: z.string(),
  deviceKey: z.string(),
  backend: Backend,
  budgetMs: z.number(),
  confidence: z.number(),
  priority: z.number().int(),
  /** What is left of the time for a refusal; absent where that has to come at once. */
  refuseWithinMs: z.number().min(0).optional(),
  ...traceField,
  tensors: z.array(TensorHeader).max(LIMITS.tensorsPerRequest),
});
export type InferOffer = z.infer<typeof InferOffer>;

/** Whatever frame the edge sends. */
export const FrameOffer = z.discriminatedUnion("type", [InferOffer, ComputeOffer]);

/** Header of the frame that answers it. */
export const InferResult = z.object({
  type: z.literal("inferResult"),
  requestId: idSchema("request"),
  times: ServiceTimes,
  /** Rows of the batch that it was computed in, its own among them. */
  rows: z.number().int().min(1),
  /** Expected time of the work that waits and runs on its device. */
  backlogMs: z.number().min(0),
  tensors: z.array(TensorHeader).max(LIMITS.tensorsPerRequest),
  ...faultFields,
});
export type InferResult = z.infer<typeof InferResult>;

/** Identifies the request that a frame answers. */
export const ResultHead = z.object({ type: z.enum(["inferResult", "computeResult"]), requestId: z.string() });

/** Close codes beyond those of RFC 6455. */
export const CLOSE_CODES = {
  /** Another socket of the same runner took over, or the runner was removed: do not come back. */
  replaced: 4001,
  removed: 4002,
  /** A message that is not of the protocol. */
  protocolError: 4003,
  /** No sign of life for three ping periods. */
  silent: 4004,
} as const;

/** Any message, whatever it is. */
const OtherType = z.object({ type: z.string().min(1).max(64) });

/** `unknownType` is that of a message which a newer end may send: it is ignored, where anything else is an error. */
export type ParsedText<Message> = { ok: true; message: Message } | { ok: false; reason: string; unknownType?: string };

/** Parses a text message of either direction; the size is checked before anything is read. */
export function parseText<Message>(schema: z.ZodType<Message>, text: string): ParsedText<Message> {
  const read = readText(text);
  return read.ok ? checkMessage(schema, read.json) : read;
}

/** The first part of `parseText`. */
export function readText(text: string): { ok: true; json: unknown } | { ok: false; reason: string } {
  if (text.length > LIMITS.socketMessageBytes) return { ok: false, reason: "the message is too large" };
  try {
    return { ok: true, json: JSON.parse(text) };
  } catch {
    return { ok: false, reason: "the message is not JSON" };
  }
}

/** The second part of `parseText`. */
export function checkMessage<Message>(schema: z.ZodType<Message>, json: unknown): ParsedText<Message> {
  const parsed = schema.safeParse(json);
  if (parsed.success) return { ok: true, message: parsed.data };
  const issue = parsed.error.issues[0];
  const reason = `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "not of the protocol"}`;
  const typed = issue?.code === "invalid_union" && issue.path.length === 1 ? OtherType.safeParse(json) : null;
  return typed?.success ? { ok: false, reason, unknownType: typed.data.type } : { ok: false, reason };
}
