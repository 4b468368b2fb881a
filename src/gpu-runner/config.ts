import { homedir, hostname, totalmem } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { BYTES, LISTEN_ADDRESS, parseBytes, parseListenAddress } from "../checkup/runner-settings.ts";
import { OrtGpuBackend } from "../protocol/fleet/hardware.ts";
import { LIMITS } from "../protocol/wire/limits.ts";
import { readOtlpHeaders, type SpanTarget, tracesUrlOf } from "../telemetry/send-spans.ts";

/** Memory budgets of a runner for artifacts, weights and buffers. */
export interface MemoryBudgets {
  /** All buffers of each GPU together. */
  readonly gpuBytes: number;
  /** Memory of this process. */
  readonly hostBytes: number;
  readonly diskBytes: number;
  /** For migrations that no request waits for. */
  readonly backgroundBytesPerSecond: number;
}

const GiB = 2 ** 30;

const bytes = (fallback: number) =>
  z
    .string()
    .regex(BYTES, "must be a positive number of bytes, such as 1048576 or 512MiB")
    .transform(parseBytes)
    .pipe(z.number().int().positive())
    .default(Math.floor(fallback));

/** Length reserved for the path after an announced address. */
const PATH_ROOM = 16;
/** Addresses to listen on that no client can call. */
const ANY_ADDRESS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

const listenAddress = z
  .string()
  .regex(LISTEN_ADDRESS, "must be a port, or a host and a port such as 10.0.0.7:8790")
  .transform(parseListenAddress)
  .refine(({ port }) => port <= 65_535, "must be a port up to 65535");

/** Whether a part of a runner is used: `auto`, on a GPU that is no emulation. */
const Use = z.enum(["auto", "on", "off"]);

/** Variable of a provider's setting, such as `MILLRACE_ORT_WEBGPU`. */
export const variableOf = (backend: OrtGpuBackend) => `MILLRACE_${backend.toUpperCase().replace("-", "_")}`;
const PROVIDER_VARIABLES = Object.fromEntries(
  OrtGpuBackend.options.map((backend) => [variableOf(backend), Use.default("auto")]),
);

const Variables = z.object({
  MILLRACE_EDGE: z.url({ protocol: /^https?$/ }).optional(),
  MILLRACE_TOKEN: z.string().min(1).optional(),
  MILLRACE_RUNNER_DIR: z
    .string()
    .min(1)
    .default(join(homedir(), ".millrace", "runner")),
  MILLRACE_RUNNER_NAME: z.string().min(1).default(hostname()),
  MILLRACE_LABELS: z
    .string()
    .default("")
    .transform((text) =>
      Object.fromEntries(
        text
          .split(",")
          .filter(Boolean)
          .map((pair) => pair.split("=", 2)),
      ),
    ),
  MILLRACE_DIRECT: listenAddress.optional(),
  MILLRACE_DIRECT_URL: z
    .url({ protocol: /^https?$/ })
    .regex(/^https?:\/\/[^/\\?#@]+\/?$/i, "must be an origin such as http://lab:8790, without path, query and name")
    .max(LIMITS.urlLength - PATH_ROOM)
    .optional(),
  MILLRACE_METRICS: listenAddress.optional(),
  /** 0 returns everything at once. */
  MILLRACE_STOP_GRACE_MS: z.coerce.number().int().min(0).max(LIMITS.trainingMs).default(8_000),
  /** `on`: the runner ends after one job and removes itself. */
  MILLRACE_EPHEMERAL: z.enum(["on", "off"]).default("off"),
  /** It ends after this time instead. */
  MILLRACE_DURATION_MS: z.coerce.number().int().min(1_000).max(LIMITS.trainingMs).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .refine((text) => readOtlpHeaders(text) !== null, "must be name=value pairs with commas between them")
    .default(""),
  MILLRACE_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  /** One device for each entry: `software`, or part of an adapter's name. */
  MILLRACE_GPU: z
    .string()
    .min(1)
    .default("auto")
    .transform((text) => {
      if (text === "auto") return text;
      return text === "none" ? [] : text.split(",").map((entry) => entry.trim());
    })
    .pipe(z.union([z.literal("auto"), z.array(z.string().min(1)).max(LIMITS.devices - 2)])),
  ...PROVIDER_VARIABLES,
  /** `on`: products of float32 on NVIDIA's cards may be of factors with 10 bits of mantissa. */
  MILLRACE_TF32: z.enum(["on", "off"]).default("off"),
  MILLRACE_WGSL_MODELS: Use.default("auto"),
  /** `off` refuses kernels that users submitted. */
  MILLRACE_USER_KERNELS: z.enum(["on", "off"]).default("on"),
  /** Budget of each GPU: WebGPU does not report its memory; a software one uses the machine's own. */
  MILLRACE_GPU_MEMORY: bytes(Math.min(4 * GiB, totalmem() / 2)),
  MILLRACE_HOST_MEMORY: bytes(Math.min(GiB / 2, totalmem() / 8)),
  /** Limit of a device's process, which leaves room for the rest of the machine, or of its container. */
  MILLRACE_PROCESS_MEMORY: bytes(Math.min(totalmem(), process.constrainedMemory() || totalmem()) / 2),
  MILLRACE_DISK_SPACE: bytes(8 * GiB),
  /** Bytes per second. */
  MILLRACE_BACKGROUND_BANDWIDTH: bytes(GiB / 16),
});

const Settings = Variables.refine(
  ({ MILLRACE_DIRECT: direct, MILLRACE_DIRECT_URL: url }) => {
    return direct === undefined || url !== undefined || !ANY_ADDRESS.has(direct.host);
  },
  { path: ["MILLRACE_DIRECT_URL"], message: "must say by which address clients reach every address of this machine" },
).refine(({ MILLRACE_DURATION_MS: ms, MILLRACE_EPHEMERAL: ephemeral }) => ms === undefined || ephemeral === "on", {
  path: ["MILLRACE_DURATION_MS"],
  message: "needs MILLRACE_EPHEMERAL=on: other runners work until they are stopped",
});

/** Address to listen on. */
export interface ListenAddress {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

/** Address for direct requests. */
export interface DirectAddress extends ListenAddress {
  /** Origin that clients receive; null: host and port. */
  readonly url: string | null;
}

export interface RunnerConfig {
  /** URL of the edge; needed only to register. */
  readonly edgeUrl: string | null;
  readonly token: string | null;
  readonly dataDir: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly logLevel: string;
  /** `auto`: every adapter of the machine's own drivers, otherwise the software GPU. Or one device for each entry. */
  readonly gpu: "auto" | readonly string[];
  /** Whether each of ONNX Runtime's providers runs models on a GPU. */
  readonly providers: Readonly<Record<OrtGpuBackend, z.infer<typeof Use>>>;
  /** Whether NVIDIA's libraries may multiply numbers of float32 as TF32. */
  readonly tf32: boolean;
  /** Whether our own kernels run models on GPUs. */
  readonly wgslModels: z.infer<typeof Use>;
  /** Whether submitted kernels may run here. */
  readonly userKernels: boolean;
  /** Memory limit of each device's process; it is killed beyond that. */
  readonly processBytes: number;
  readonly memory: MemoryBudgets;
  /** Time to finish work after a stop signal. */
  readonly stopGraceMs: number;
  /** Null: it works until it is stopped. Else for `durationMs`, or for one job where that is null. */
  readonly ephemeral: { readonly durationMs: number | null } | null;
  /** Null: no listener. */
  readonly direct: DirectAddress | null;
  /** Address for scrapes of metrics; null: none. */
  readonly metrics: ListenAddress | null;
  /** Target of spans; null: none. */
  readonly tracing: SpanTarget | null;
}

function readProviders(settings: Readonly<Record<string, unknown>>): RunnerConfig["providers"] {
  const entries = OrtGpuBackend.options.map((backend) => [backend, Use.parse(settings[variableOf(backend)])]);
  return Object.fromEntries(entries) as RunnerConfig["providers"];
}

/** Reads the runner's configuration from the environment. Throws a ZodError that names the variable. */
export function readConfig(environment: NodeJS.ProcessEnv): RunnerConfig {
  const settings = Settings.parse(environment);
  return Object.freeze({
    edgeUrl: settings.MILLRACE_EDGE ?? null,
    token: settings.MILLRACE_TOKEN ?? null,
    dataDir: settings.MILLRACE_RUNNER_DIR,
    name: settings.MILLRACE_RUNNER_NAME.replaceAll(/[^A-Za-z0-9._-]/g, "-"),
    labels: settings.MILLRACE_LABELS,
    logLevel: settings.MILLRACE_LOG_LEVEL,
    gpu: settings.MILLRACE_GPU,
    providers: readProviders(settings),
    tf32: settings.MILLRACE_TF32 === "on",
    wgslModels: settings.MILLRACE_WGSL_MODELS,
    userKernels: settings.MILLRACE_USER_KERNELS === "on",
    stopGraceMs: settings.MILLRACE_STOP_GRACE_MS,
    ephemeral: settings.MILLRACE_EPHEMERAL === "on" ? { durationMs: settings.MILLRACE_DURATION_MS ?? null } : null,
    direct:
      settings.MILLRACE_DIRECT === undefined
        ? null
        : { ...settings.MILLRACE_DIRECT, url: settings.MILLRACE_DIRECT_URL ?? null },
    metrics: settings.MILLRACE_METRICS ?? null,
    tracing:
      settings.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? null
        : {
            url: tracesUrlOf(settings.OTEL_EXPORTER_OTLP_ENDPOINT),
            headers: readOtlpHeaders(settings.OTEL_EXPORTER_OTLP_HEADERS) ?? {},
          },
    processBytes: settings.MILLRACE_PROCESS_MEMORY,
    memory: Object.freeze({
      gpuBytes: settings.MILLRACE_GPU_MEMORY,
      hostBytes: settings.MILLRACE_HOST_MEMORY,
      diskBytes: settings.MILLRACE_DISK_SPACE,
      backgroundBytesPerSecond: settings.MILLRACE_BACKGROUND_BANDWIDTH,
    }),
  });
}
