import { z } from "zod";
import { calibrationFields } from "../protocol/jobs/calibration.ts";
import { type Intervals, SILENT_PINGS } from "../protocol/link.ts";
import { readOtlpHeaders, type SpanTarget, tracesUrlOf } from "../telemetry/send-spans.ts";
import type { RunnerLinkRpc } from "./link/link-rpc.ts";
import type { JobQueueRpc } from "./queue/queue-rpc.ts";

/** Bindings of wrangler.toml and, as text, the variables that `Settings` reads. */
export interface Env {
  readonly DB: D1Database;
  readonly ARTIFACTS: R2Bucket;
  readonly ASSETS: Fetcher;
  readonly RUNNER_LINK: DurableObjectNamespace<RunnerLinkRpc>;
  readonly JOB_QUEUE: DurableObjectNamespace<JobQueueRpc>;
  readonly POLICY_STREAM: DurableObjectNamespace;
  /** Cloudflare's own counter of a key's requests; absent on one machine, where there is one isolate. */
  readonly KEY_LIMITER?: RateLimit;
  /** The same of what a project asks of the queue. */
  readonly QUEUE_LIMITER?: RateLimit;
  readonly BOOTSTRAP_SECRET?: string;
  readonly PROJECTS_SHARE_RUNNERS?: string;
  readonly KEY_REQUESTS_PER_SECOND?: string;
  readonly PROJECT_REQUESTS_PER_SECOND?: string;
  readonly KEEP_AUDIT_DAYS?: string;
  readonly PING_MS?: string;
  readonly HEARTBEAT_MS?: string;
  readonly LEASE_MS?: string;
  readonly RESEND_MS?: string;
  readonly WATCH_MS?: string;
  readonly FLUSH_MS?: string;
  readonly SEARCH_GAP_MS?: string;
  readonly CALIBRATION_ITERATIONS?: string;
  readonly LOG_REQUESTS?: string;
  readonly OTLP_ENDPOINT?: string;
  readonly OTLP_HEADERS?: string;
  readonly OTLP_SAMPLE_RATIO?: string;
  readonly WEBHOOK_RETRY_MS?: string;
  readonly KEEP_REQUESTS_DAYS?: string;
  readonly KEEP_MINUTES_DAYS?: string;
  readonly KEEP_HOURS_DAYS?: string;
  readonly KEEP_SERIES_DAYS?: string;
  readonly KEEP_ARTIFACTS_DAYS?: string;
}

/** Surroundings of a request or a job: the bindings, and the project that it belongs to. */
export interface ProjectEnv extends Env {
  readonly project: string;
}

const milliseconds = (fallback: number) => z.coerce.number().int().positive().default(fallback);

const SCOPES_KEPT = 1_000;
const DAY_MS = 86_400_000;
const days = (fallback: number) =>
  z.coerce
    .number()
    .int()
    .positive()
    .default(fallback)
    .transform((count) => count * DAY_MS);

const Settings = z.object({
  /** Acts as an admin key until it is unset; meant for making the first real key. */
  BOOTSTRAP_SECRET: z.string().min(32).optional(),
  /**
   * Lets any project share its runners with all. Owners of shared runners see the requests of others and choose the
   * answers.
   */
  PROJECTS_SHARE_RUNNERS: z.enum(["on", "off"]).default("off"),
  /**
   * Request rate of a key without a limit of its own or a runner, and of a project with all of them; the operator's
   * project has no limit.
   */
  KEY_REQUESTS_PER_SECOND: z.coerce.number().positive().default(1_000),
  PROJECT_REQUESTS_PER_SECOND: z.coerce.number().positive().default(5_000),
  PING_MS: milliseconds(1_500),
  HEARTBEAT_MS: milliseconds(3_000),
  LEASE_MS: milliseconds(15_000),
  RESEND_MS: milliseconds(3_000),
  /** Interval of a runner's health reports. */
  WATCH_MS: milliseconds(10_000),
  FLUSH_MS: milliseconds(10_000),
  /** Measured requests of each batch size in calibrations that the edge itself submits. */
  CALIBRATION_ITERATIONS: z.coerce.number().pipe(calibrationFields.iterations.unwrap()).default(300),
  SEARCH_GAP_MS: milliseconds(5_000),
  /** `errors` logs failures on our side, `all` one event for each request. */
  LOG_REQUESTS: z.enum(["errors", "all"]).default("errors"),
  /** Base address of an OpenTelemetry collector; without one, nothing is traced. */
  OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTLP_HEADERS: z
    .string()
    .refine((text) => readOtlpHeaders(text) !== null, "must be name=value pairs with commas between them")
    .default(""),
  /** Sampled share of the requests without a trace; a request within a trace follows the flag of that trace. */
  OTLP_SAMPLE_RATIO: z.coerce.number().min(0).max(1).default(1),
  /** Time between a webhook's first failure and the next attempt; it doubles with each further attempt. */
  WEBHOOK_RETRY_MS: milliseconds(60_000),
  /** Time for which the history keeps raw measurements of live requests; those of runs are kept for ever. */
  KEEP_REQUESTS_DAYS: days(2),
  /** Time for which the history keeps rollups by minute and by hour; the wider ones are kept as long as their series. */
  KEEP_MINUTES_DAYS: days(14),
  KEEP_HOURS_DAYS: days(400),
  /** Time for which it keeps a series of live requests after its last point; those of runs are kept for ever. */
  KEEP_SERIES_DAYS: days(800),
  /** Time for which the files of jobs are kept; their results are kept for ever. */
  KEEP_ARTIFACTS_DAYS: days(90),
  /** Time for which the audit log keeps its entries. */
  KEEP_AUDIT_DAYS: days(400),
});

export interface Config {
  readonly bootstrapSecret: string | null;
  readonly projectsShareRunners: boolean;
  readonly keyRequestsPerSecond: number;
  readonly projectRequestsPerSecond: number;
  readonly intervals: Intervals;
  readonly logRequests: "errors" | "all";
  /** Target of spans; null sends none. */
  readonly tracing: (SpanTarget & { readonly sampleRatio: number }) | null;
  /** A socket without a ping for this long counts as dead. */
  readonly silentMs: number;
  /** Age at which the placements that admit requests are read again. */
  readonly snapshotMs: number;
  /** Age at which a key is looked up again, behind the request. */
  readonly keyRefreshMs: number;
  /** Longest time for which a key is trusted without a look-up, and so for which a revoked key may still work. */
  readonly keyExpiryMs: number;
  /** New points are searched for changes at once, unless the last such search is younger than this. */
  readonly searchGapMs: number;
  /** Interval at which measurements of requests move to the history. */
  readonly flushMs: number;
  readonly maxAttempts: number;
  readonly calibrationIterations: number;
  readonly webhookRetryMs: number;
  readonly retention: {
    readonly requestsMs: number;
    readonly minutesMs: number;
    readonly hoursMs: number;
    readonly seriesMs: number;
    readonly artifactsMs: number;
    readonly auditMs: number;
  };
}

const parsed = new WeakMap<Env, Config>();
const scoped = new WeakMap<Env, Map<string, ProjectEnv>>();

/** The bindings for a project; the same object each time, as long as there are few projects. */
export function scopeEnv(env: Env, project: string): ProjectEnv {
  const known = scoped.get(env) ?? new Map<string, ProjectEnv>();
  scoped.set(env, known);
  const found = known.get(project);
  if (found !== undefined) return found;
  if (known.size >= SCOPES_KEPT) known.clear();
  const made = { ...env, project };
  parsed.set(made, configOf(env));
  known.set(project, made);
  return made;
}

/** The configuration of this isolate, parsed once. Throws when a variable is invalid. */
export function configOf(env: Env): Config {
  const known = parsed.get(env);
  if (known !== undefined) return known;
  const settings = Settings.parse(env);
  const config: Config = Object.freeze({
    bootstrapSecret: settings.BOOTSTRAP_SECRET ?? null,
    projectsShareRunners: settings.PROJECTS_SHARE_RUNNERS === "on",
    keyRequestsPerSecond: settings.KEY_REQUESTS_PER_SECOND,
    projectRequestsPerSecond: settings.PROJECT_REQUESTS_PER_SECOND,
    intervals: {
      pingMs: settings.PING_MS,
      heartbeatMs: settings.HEARTBEAT_MS,
      leaseMs: settings.LEASE_MS,
      resendMs: settings.RESEND_MS,
      watchMs: settings.WATCH_MS,
    },
    logRequests: settings.LOG_REQUESTS,
    tracing:
      settings.OTLP_ENDPOINT === undefined
        ? null
        : {
            url: tracesUrlOf(settings.OTLP_ENDPOINT),
            headers: readOtlpHeaders(settings.OTLP_HEADERS) ?? {},
            sampleRatio: settings.OTLP_SAMPLE_RATIO,
          },
    silentMs: settings.PING_MS * SILENT_PINGS,
    snapshotMs: 1_000,
    keyRefreshMs: 5_000,
    keyExpiryMs: 30_000,
    flushMs: settings.FLUSH_MS,
    searchGapMs: settings.SEARCH_GAP_MS,
    maxAttempts: 3,
    calibrationIterations: settings.CALIBRATION_ITERATIONS,
    webhookRetryMs: settings.WEBHOOK_RETRY_MS,
    retention: {
      requestsMs: settings.KEEP_REQUESTS_DAYS,
      minutesMs: settings.KEEP_MINUTES_DAYS,
      hoursMs: settings.KEEP_HOURS_DAYS,
      seriesMs: settings.KEEP_SERIES_DAYS,
      artifactsMs: settings.KEEP_ARTIFACTS_DAYS,
      auditMs: settings.KEEP_AUDIT_DAYS,
    },
  });
  parsed.set(env, config);
  return config;
}

/** The queue of all jobs: one object until pools divide it (see docs/scale.md). */
export function jobQueue(env: Env) {
  return env.JOB_QUEUE.get(env.JOB_QUEUE.idFromName("main"));
}

/** The object that holds a runner's socket. */
export function runnerLink(env: Env, runnerId: string) {
  return env.RUNNER_LINK.get(env.RUNNER_LINK.idFromName(runnerId));
}
