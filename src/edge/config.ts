import { z } from "zod";
import type { Intervals } from "../protocol/link.ts";
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
  /** Cloudflare's own counter of a key's requests; absent on one machine, where there is one isolate. */
  readonly KEY_LIMITER?: RateLimit;
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
  readonly LOG_REQUESTS?: string;
  readonly OTLP_ENDPOINT?: string;
  readonly OTLP_HEADERS?: string;
  readonly OTLP_SAMPLE_RATIO?: string;
  readonly WEBHOOK_RETRY_MS?: string;
  readonly KEEP_REQUESTS_DAYS?: string;
  readonly KEEP_MINUTES_DAYS?: string;
  readonly KEEP_HOURS_DAYS?: string;
  readonly KEEP_ARTIFACTS_DAYS?: string;
}

/** What a request or a job works with: the bindings, and the project that it belongs to. */
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
  /** Whether any project may lend its runners to all: whoever runs one sees what others send it, and may answer what it likes. */
  PROJECTS_SHARE_RUNNERS: z.enum(["on", "off"]).default("off"),
  /** What a key may ask for that has no limit of its own, and a project with all of its keys; the operator's has none. */
  KEY_REQUESTS_PER_SECOND: z.coerce.number().positive().default(1_000),
  PROJECT_REQUESTS_PER_SECOND: z.coerce.number().positive().default(5_000),
  PING_MS: milliseconds(1_500),
  HEARTBEAT_MS: milliseconds(3_000),
  LEASE_MS: milliseconds(15_000),
  RESEND_MS: milliseconds(3_000),
  /** How often a runner tells of its health. */
  WATCH_MS: milliseconds(10_000),
  FLUSH_MS: milliseconds(10_000),
  SEARCH_GAP_MS: milliseconds(5_000),
  /** `errors` logs what failed on our side, `all` one event per request. */
  LOG_REQUESTS: z.enum(["errors", "all"]).default("errors"),
  /** Base address of an OpenTelemetry collector; unset, nothing is traced. */
  OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTLP_HEADERS: z
    .string()
    .refine((text) => readOtlpHeaders(text) !== null, "must be name=value pairs with commas between them")
    .default(""),
  /** Of requests that come without a trace; one that comes in a trace is sampled as that says. */
  OTLP_SAMPLE_RATIO: z.coerce.number().min(0).max(1).default(1),
  /** From a webhook's first failure to its next attempt; each further one waits twice as long. */
  WEBHOOK_RETRY_MS: milliseconds(60_000),
  /** How long the history keeps what live requests left, as measured; what runs left is kept for ever. */
  KEEP_REQUESTS_DAYS: days(2),
  /** How long it keeps rollups by minute and by hour; the wider ones are kept for ever. */
  KEEP_MINUTES_DAYS: days(14),
  KEEP_HOURS_DAYS: days(400),
  /** How long files that jobs leave beside their results are kept; the results are kept for ever. */
  KEEP_ARTIFACTS_DAYS: days(90),
  /** How long it is kept what administrators did. */
  KEEP_AUDIT_DAYS: days(400),
});

export interface Config {
  readonly bootstrapSecret: string | null;
  readonly projectsShareRunners: boolean;
  readonly keyRequestsPerSecond: number;
  readonly projectRequestsPerSecond: number;
  readonly intervals: Intervals;
  readonly logRequests: "errors" | "all";
  /** Where spans are sent; null: nowhere. */
  readonly tracing: (SpanTarget & { readonly sampleRatio: number }) | null;
  /** A socket without a ping for this long is dead. */
  readonly silentMs: number;
  /** How old the placements that requests are admitted by may grow before they are read again. */
  readonly snapshotMs: number;
  /** From this age on a key is looked up again while the request goes on. */
  readonly keyRefreshMs: number;
  /** How long a key may be trusted without asking the database, so also how long a revoked one may live. */
  readonly keyExpiryMs: number;
  /** What has just come is searched for changes at once, unless the last such search is younger. */
  readonly searchGapMs: number;
  /** How often measurements of requests move on towards the history. */
  readonly flushMs: number;
  readonly maxAttempts: number;
  readonly webhookRetryMs: number;
  readonly retention: {
    readonly requestsMs: number;
    readonly minutesMs: number;
    readonly hoursMs: number;
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

/** The configuration of this isolate, parsed once. Throws when a variable is not what it should be. */
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
    silentMs: settings.PING_MS * 3,
    snapshotMs: 1_000,
    keyRefreshMs: 5_000,
    keyExpiryMs: 30_000,
    flushMs: settings.FLUSH_MS,
    searchGapMs: settings.SEARCH_GAP_MS,
    maxAttempts: 3,
    webhookRetryMs: settings.WEBHOOK_RETRY_MS,
    retention: {
      requestsMs: settings.KEEP_REQUESTS_DAYS,
      minutesMs: settings.KEEP_MINUTES_DAYS,
      hoursMs: settings.KEEP_HOURS_DAYS,
      artifactsMs: settings.KEEP_ARTIFACTS_DAYS,
      auditMs: settings.KEEP_AUDIT_DAYS,
    },
  });
  parsed.set(env, config);
  return config;
}

/** The queue of all jobs. One object serves until pools shard it (see docs/scale.md). */
export function jobQueue(env: Env) {
  return env.JOB_QUEUE.get(env.JOB_QUEUE.idFromName("main"));
}

/** The object that holds a runner's socket. */
export function runnerLink(env: Env, runnerId: string) {
  return env.RUNNER_LINK.get(env.RUNNER_LINK.idFromName(runnerId));
}
