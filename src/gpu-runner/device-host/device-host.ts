import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { AxisValues } from "../../../kernels/kernel-spec.ts";
import type { Device, Hardware, KernelAnnouncement } from "../../protocol/fleet/hardware.ts";
import type { BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import type { JobProgress } from "../../protocol/jobs/job.ts";
import type { KernelProgram } from "../../protocol/kernels/kernel-definition.ts";
import type { PoolState } from "../../protocol/fleet/memory.ts";
import type { ProbedClaim } from "../../protocol/jobs/probe.ts";
import { type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import type { TuningSpec } from "../../protocol/jobs/tuning.ts";
import type { BenchmarkMeasurement } from "../kernels/benchmark/benchmark-kernel.ts";
import type { TuningMeasurement } from "../kernels/tuning/tune-kernel.ts";
import { ModelQuarantine } from "./quarantine.ts";
import { installSoftwareGpu } from "../devices/gpu/software-gpu.ts";
import type { InferenceOutcome } from "../devices/ort/ort-backend.ts";
import { callApart, timeoutOf } from "./call-apart.ts";
import { type CallOptions, DeviceChild, type DeviceLogger } from "./device-child.ts";
import type { UsedPipeline } from "../devices/gpu/pipeline-cache.ts";
import type { DeviceCallName, DeviceCalls, DeviceDescription, DeviceRole } from "./messages.ts";

type Environment = Readonly<Record<string, string>>;

export interface DeviceHostOptions {
  readonly role: DeviceRole;
  readonly deviceKey: string;
  /** Where the software GPU is unpacked and compiled code is kept. */
  readonly cacheDir: string;
  /** What a GPU's buffers may take in all; no cap where it is absent. */
  readonly memoryBytes?: number;
  /** What a process of the device may have in memory, whatever runs there; no limit where it is absent. */
  readonly processBytes?: number;
  /** What one run of a model may take, and loading it; `RUN_LIMIT_MS` where it is absent. */
  readonly runLimitMs?: number;
  readonly logger: DeviceLogger;
  /** Whether a GPU serves models by WGSL, with `auto` unless it is an emulation; none does where it is absent. */
  readonly models?: "auto" | "on" | "off";
  /** `own` are the machine's drivers, `software` is the one from npm, `auto` the first of them that opens. */
  readonly driver?: "auto" | "own" | "software";
  /** Part of the name of the adapter to open; else the best one is. */
  readonly adapter?: string;
  /** Where the process finds its driver, if that is known: the environment of another device's process. */
  readonly environment?: Environment;
  /** What is known of a device that cannot tell it by itself. */
  readonly known?: DeviceDescription;
  /** The program of the process, where it is not the usual one. */
  readonly entry?: URL;
}

/** How a heavy call is watched and ended early. */
export interface WorkOptions {
  readonly onProgress?: (progress: JobProgress) => void;
  /** Takes files from which the call could go on in another process. */
  readonly onCheckpoint?: (file: Uint8Array<ArrayBuffer>) => void;
  readonly signal?: AbortSignal;
}

/** Waits before the next life, by how many short ones went before that answered nothing. */
const BACKOFF_MS = [0, 100, 500, 2_000, 5_000, 15_000];
const SHORT_LIFE_MS = 5_000;
/** A model during whose loading so many new lives ended is given up. */
const MAX_FATAL_RELOADS = 3;
/** Pipelines that a new life compiles before it takes calls: those that were used last. */
const WARM_PIPELINES = 4;

const DESCRIBE = { limitMs: 30_000, limitCode: "device-lost" } as const;
const WARM = { limitMs: 30_000, limitCode: "device-lost" } as const;
const UNLOAD = { limitMs: 60_000, limitCode: "device-lost" } as const;
/**
 * One limit for loading and running: the call that came first, and keeps the others from being begun, is the first to
 * reach it, so none is blamed for another.
 */
const RUN_LIMIT_MS = 30_000;

/** A search ends by itself, but for a candidate that hangs. */
export const TUNING_GRACE_MS = 120_000;

/** An ONNX file: where it lies, or how its content is got, anew for every life of the process. */
type ModelFile = { readonly path: string } | { readonly read: () => Promise<Uint8Array> };

interface LoadedModel {
  readonly file: ModelFile;
  readonly threads: number;
  fatalReloads: number;
}

/**
 * A device as the runner sees it: a child process that owns the driver, kept alive. When it dies,
 * what was pending fails with `device-lost`; a new one is started, the models are loaded again, and
 * calls that came meanwhile wait for it.
 */
export class DeviceHost {
  readonly device: Device;
  readonly kernels: KernelAnnouncement[];
  /** Digest of each kernel's files, by name: another program has another. */
  readonly kernelDigests: Readonly<Record<string, string>>;
  /** Names of the adapters that the driver of this device offers. */
  readonly adapters: readonly string[];
  /** What was added to the runner's environment, so that the process finds its driver. */
  readonly environment: Environment;
  readonly #options: DeviceHostOptions;
  readonly #description: DeviceDescription;
  /** Those that were used last, by what they are. */
  readonly #pipelines: Map<string, UsedPipeline>;
  readonly #models = new Map<string, LoadedModel>();
  readonly #quarantine = new ModelQuarantine();
  readonly #stopping = new AbortController();
  /** The process that lives or is being made ready. */
  #child: DeviceChild;
  /** Settles when the current life can take calls. */
  #ready: Promise<DeviceChild>;
  #isDown = false;
  #shortLives = 0;
  #restarts = 0;
  #waiting = 0;
  #lastWork: Promise<unknown> = Promise.resolve();

  private constructor(
    options: DeviceHostOptions,
    environment: Environment,
    child: DeviceChild,
    description: DeviceDescription,
    pipelines: Map<string, UsedPipeline>,
  ) {
    this.#options = options;
    this.environment = environment;
    this.#child = child;
    this.#ready = Promise.resolve(child);
    this.#description = description;
    this.#pipelines = pipelines;
    this.device = withModels(description.device, options);
    this.kernels = description.kernels;
    this.kernelDigests = description.kernelDigests;
    this.adapters = description.adapters;
  }

  /**
   * Starts the device's process. A GPU is looked for among the machine's own drivers (Dawn prefers a
   * real one to Mesa's lavapipe), then in the software GPU from npm; the first process that describes a
   * device stays. Fails with the last one's problem.
   */
  static async start(options: DeviceHostOptions): Promise<DeviceHost> {
    const { role, driver = "auto", cacheDir, deviceKey, logger, environment } = options;
    if (environment !== undefined) return DeviceHost.#open(options, environment);
    // Most of a start is loading our own code and that of zod: kept compiled, it takes a third of the time.
    const compiled = { NODE_COMPILE_CACHE: path.resolve(cacheDir, "compile-cache") };
    const own = async (): Promise<Environment> => compiled;
    const software = async () => ({ ...compiled, ...(await installSoftwareGpu(cacheDir)) });
    const byDriver = { auto: [own, software], own: [own], software: [software] };
    const candidates = role === "cpu" ? [own] : byDriver[driver];
    let failure: unknown;
    for (const prepare of candidates) {
      try {
        return await DeviceHost.#open(options, await prepare());
      } catch (error) {
        failure = error;
        logger.info({ deviceKey, reason: error instanceof Error ? error.message : String(error) }, "no device here");
      }
    }
    throw failure;
  }

  static async #open(options: DeviceHostOptions, environment: Environment): Promise<DeviceHost> {
    const { deviceKey, known } = options;
    let host: DeviceHost | null = null;
    const onEnd = (dead: DeviceChild) => {
      if (host !== null) host.#onEnd(dead);
    };
    const pipelines = new Map<string, UsedPipeline>();
    const onUsed = (pipeline: UsedPipeline) => remember(pipelines, pipeline);
    const child = new DeviceChild({ ...options, environment, onEnd, onUsed });
    try {
      const description = await child.call("describe", { deviceKey, ...(known && { known }) }, DESCRIBE);
      host = new DeviceHost(options, environment, child, description, pipelines);
      return host;
    } catch (error) {
      child.kill();
      throw error;
    }
  }

  /** Process id of the current life; null while there is none. */
  get pid(): number | null {
    return this.#child.alive ? this.#child.pid : null;
  }

  /** Whether the process has died and no new one is ready yet. */
  get isDown(): boolean {
    return this.#isDown;
  }

  /** Calls that want the device to themselves and have not ended. */
  get waiting(): number {
    return this.#waiting;
  }

  /** How many times the process had to be started again. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Checks and times a kernel; see `work`. On the CPU, whose process serves models, it gets one of its own; see `workApart`. */
  benchmark(
    spec: BenchmarkSpec,
    { axes = spec.axes ?? {}, ...options }: WorkOptions & { axes?: AxisValues } = {},
  ): Promise<BenchmarkMeasurement> {
    const input = { spec, axes };
    if (this.#options.role === "gpu") return this.work("benchmark", input, spec.timeoutMs, options);
    return this.workApart("benchmark", input, spec.timeoutMs, "device-lost", options);
  }

  /** Searches for a kernel's fastest variant and axes; see `work`. */
  tune(spec: TuningSpec, options: WorkOptions = {}): Promise<TuningMeasurement> {
    return this.work("tune", { spec }, spec.budgetMs + TUNING_GRACE_MS, options);
  }

  /**
   * Makes a call that wants the device to itself: such calls wait for each other. Beyond `timeoutMs` the
   * process is killed and the call fails with `kernel-timeout`. An aborted signal ends it with `cancelled`.
   */
  async work<Name extends DeviceCallName>(
    name: Name,
    input: DeviceCalls[Name]["input"],
    timeoutMs: number,
    { onProgress, signal }: WorkOptions = {},
  ): Promise<DeviceCalls[Name]["output"]> {
    const limits = { limitMs: timeoutMs, limitCode: "kernel-timeout", endOnAbort: true, signal, onProgress } as const;
    return untilAborted(
      this.#inTurn(() => this.#call(name, input, limits)),
      signal,
    );
  }

  /**
   * Checks and times a submitted kernel; see `workApart`. A process that dies under it fails with
   * `backend-failed`, so that no further one is spent on it.
   */
  benchmarkProgram(
    spec: BenchmarkSpec,
    program: KernelProgram,
    options: WorkOptions = {},
  ): Promise<BenchmarkMeasurement> {
    return this.workApart("benchmarkProgram", { spec, program }, timeoutOf(spec, program), "backend-failed", options);
  }

  /**
   * Makes a call in a process of its own, which ends with it. It waits for its turn and is watched like
   * `work`; it fails with `died` where the process dies under it. Its buffers fit beside those that this
   * device's process has in use.
   */
  workApart<Name extends DeviceCallName>(
    name: Name,
    input: DeviceCalls[Name]["input"],
    timeoutMs: number,
    died: ProblemCode,
    { onProgress, onCheckpoint, signal }: WorkOptions = {},
  ): Promise<DeviceCalls[Name]["output"]> {
    const ended = AbortSignal.any([this.#stopping.signal, ...(signal === undefined ? [] : [signal])]);
    const call = { limitMs: timeoutMs, limitCode: "kernel-timeout", signal: ended, onProgress, onCheckpoint } as const;
    const turn = this.#inTurn(async () => {
      const memoryBytes = await this.#leftBytes(ended);
      const options = { ...this.#options, environment: this.environment, memoryBytes };
      return callApart(options, this.#description, name, input, call, died);
    });
    return untilAborted(turn, ended);
  }

  /** Checks what this device and this machine are said to be, in a process of its own; see `workApart`. It fails with `device-lost` where the process dies of it. */
  probe(hardware: Hardware, timeoutMs: number, options: WorkOptions = {}): Promise<ProbedClaim[]> {
    return this.workApart("probe", { claimed: this.device, hardware }, timeoutMs, "device-lost", options);
  }

  /** Loads an ONNX file to run with so many threads, one by default, here and in every later life, until it is unloaded. */
  async loadModel({
    modelKey,
    threads = 1,
    ...file
  }: { modelKey: string; threads?: number } & ModelFile): Promise<{ loadMs: number }> {
    this.#quarantine.refuse(modelKey, Date.now());
    const load = async () =>
      this.#call("loadModel", { modelKey, model: await contentOf(file), threads }, this.#runLimit(modelKey));
    // A GPU's process compiles and measures then, and a device has one piece of such work at a time.
    const loaded = await (this.#options.role === "gpu" ? this.#inTurn(load) : load());
    this.#models.set(modelKey, { file, threads, fatalReloads: 0 });
    return loaded;
  }

  /**
   * By how many bytes a process grows that loads a model which is loaded here and runs these batches in turn;
   * see `workApart`.
   */
  async measureMemory(
    modelKey: string,
    batches: readonly (readonly Tensor[])[],
    { timeoutMs, ...options }: WorkOptions & { readonly timeoutMs: number },
  ): Promise<number[]> {
    const { file, threads } = this.#loaded(modelKey);
    const model = await bytesOf(file);
    return this.workApart("measureMemory", { model, batches, threads }, timeoutMs, "backend-failed", options);
  }

  /** What it takes to start a model that is loaded here where nothing is, and to answer these tensors first; see `workApart`. */
  async measureStart(
    modelKey: string,
    tensors: readonly Tensor[],
    { timeoutMs, ...options }: WorkOptions & { readonly timeoutMs: number },
  ): Promise<{ loadMs: number; firstAnswerMs: number }> {
    const { file, threads } = this.#loaded(modelKey);
    const model = await bytesOf(file);
    return this.workApart("measureStart", { model, tensors, threads }, timeoutMs, "backend-failed", options);
  }

  async unloadModel(modelKey: string): Promise<void> {
    this.#models.delete(modelKey);
    await this.#call("unloadModel", { modelKey }, UNLOAD);
  }

  /**
   * Has a file loaded and answer these tensors in a process of its own, before anything that serves meets it; see
   * `workApart`. Fails with `backend-failed` where it ends the process, or takes longer than it may.
   */
  async tryModel(
    model: Uint8Array,
    tensors: readonly Tensor[],
    { threads = 1, signal }: { threads?: number; signal: AbortSignal },
  ): Promise<void> {
    const limitMs = this.#options.runLimitMs ?? RUN_LIMIT_MS;
    const input = { model, tensors, threads };
    await this.workApart("measureStart", input, limitMs, "backend-failed", { signal }).catch((error: unknown) => {
      if (!(error instanceof ProblemError) || error.problem.code !== "kernel-timeout") throw error;
      const detail = `The model took more than ${limitMs} ms to be loaded and to answer one row.`;
      throw new ProblemError("backend-failed", detail);
    });
  }

  /**
   * Runs a loaded model. An abort rejects with `cancelled` at once; what already computes is left to finish. Fails with
   * `model-quarantined` where it ended the process too often.
   */
  async infer(
    modelKey: string,
    tensors: readonly Tensor[],
    { requestId, signal }: { requestId: string; signal?: AbortSignal },
  ): Promise<InferenceOutcome> {
    this.#quarantine.refuse(modelKey, Date.now());
    return this.#call("infer", { modelKey, tensors, requestId }, { ...this.#runLimit(modelKey), signal });
  }

  /** Counters of the device's buffer pool; fails with `cancelled` where the signal comes first, and ends nothing then. */
  readPool(signal: AbortSignal): Promise<PoolState["counters"]> {
    return this.#call("readPool", null, { ...DESCRIBE, signal });
  }

  /** Bytes of the process in memory, as it tells them itself. */
  readResidentSet(signal: AbortSignal): Promise<number> {
    return this.#call("readResidentSet", null, { ...DESCRIBE, signal });
  }

  /** Ends the process for good; what is pending fails with `device-lost`. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#child.kill();
    await this.#child.exited;
    await this.#lastWork;
  }

  /** How a call of a model is watched: what ends the process by it counts against it. */
  #runLimit(modelKey: string): CallOptions {
    const onBlame = (code: ProblemCode) => this.#quarantine.note(modelKey, code, Date.now());
    return { limitMs: this.#options.runLimitMs ?? RUN_LIMIT_MS, limitCode: "backend-failed", onBlame };
  }

  #loaded(modelKey: string): LoadedModel {
    const loaded = this.#models.get(modelKey);
    if (loaded === undefined) throw new ProblemError("not-found", `The model '${modelKey}' is not loaded`);
    return loaded;
  }

  /** What is left of the device's memory once its process has let go of what it has not in use; undefined without a cap. */
  async #leftBytes(signal: AbortSignal): Promise<number | undefined> {
    const { role, memoryBytes } = this.#options;
    if (role !== "gpu" || memoryBytes === undefined || this.#isDown) return memoryBytes;
    // A process that dies of being asked holds nothing any more.
    const usedBytes = await this.#call("freeIdle", null, { ...DESCRIBE, signal }).catch(() => 0);
    return memoryBytes - usedBytes;
  }

  /** Runs work once everything before it has ended. */
  #inTurn<Output>(run: () => Promise<Output>): Promise<Output> {
    const turn = this.#lastWork.then(run);
    this.#waiting++;
    this.#lastWork = turn.catch(() => {}).finally(() => this.#waiting--);
    return turn;
  }

  async #call<Name extends DeviceCallName>(
    name: Name,
    input: DeviceCalls[Name]["input"],
    options: CallOptions,
  ): Promise<DeviceCalls[Name]["output"]> {
    const child = await untilAborted(this.#ready, options.signal);
    try {
      return await child.call(name, input, options);
    } finally {
      // It has served: should it die now, it is its work that killed it, and a new one need not be held back.
      if (child.alive) this.#shortLives = 0;
    }
  }

  /** Replaces `#ready` before anyone learns of the death, so that whoever tries again waits for the next life. */
  #onEnd(dead: DeviceChild): void {
    if (dead !== this.#child || this.#stopping.signal.aborted) return;
    const livedMs = performance.now() - dead.bornAt;
    if (livedMs >= SHORT_LIFE_MS) this.#shortLives = 0;
    this.#options.logger.warn({ deviceKey: this.device.key, livedMs, restarts: this.#restarts }, "device process died");
    this.#isDown = true;
    this.#ready = dead.exited.then(() => this.#revive());
    this.#ready.catch(() => {});
  }

  async #revive(): Promise<DeviceChild> {
    for (;;) {
      const waitMs = BACKOFF_MS[Math.min(this.#shortLives++, BACKOFF_MS.length - 1)];
      await delay(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (this.#stopping.signal.aborted) throw new ProblemError("device-lost", "The device was stopped");
      this.#restarts++;
      try {
        return await this.#startLife();
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#options.logger.error({ deviceKey: this.device.key, reason }, "device process did not start");
      }
    }
  }

  async #startLife(): Promise<DeviceChild> {
    let ready = false;
    const child = new DeviceChild({
      ...this.#options,
      environment: this.environment,
      // Before it is ready, its death is an error of the calls below.
      onEnd: (dead) => ready && this.#onEnd(dead),
      onUsed: (pipeline) => remember(this.#pipelines, pipeline),
    });
    this.#child = child;
    try {
      await child.call("describe", { deviceKey: this.device.key, known: this.#description }, DESCRIBE);
      await this.#warm(child);
      for (const [modelKey, model] of this.#models) await this.#reload(child, modelKey, model);
    } catch (error) {
      child.kill();
      throw error;
    }
    ready = true;
    this.#isDown = false;
    return child;
  }

  /** Compiles what the last life used before a caller has to wait for it; what kills the process is not tried twice. */
  async #warm(child: DeviceChild): Promise<void> {
    const pipelines = [...this.#pipelines.values()];
    this.#pipelines.clear();
    if (pipelines.length > 0) await child.call("warm", { pipelines }, WARM);
  }

  /** A model that cannot be loaded any more is forgotten and holds nobody up; throws only where the process died. */
  async #reload(child: DeviceChild, modelKey: string, model: LoadedModel): Promise<void> {
    try {
      const { file, threads } = model;
      await child.call("loadModel", { modelKey, model: await contentOf(file), threads }, this.#runLimit(modelKey));
      model.fatalReloads = 0;
    } catch (error) {
      if (!child.alive) model.fatalReloads++;
      if (child.alive || model.fatalReloads >= MAX_FATAL_RELOADS) {
        this.#models.delete(modelKey);
        const reason = error instanceof Error ? error.message : String(error);
        this.#options.logger.error({ deviceKey: this.device.key, modelKey, reason }, "model is given up");
      }
      if (!child.alive) throw error;
    }
  }
}

function withModels(device: Device, { role, models = "off" }: Pick<DeviceHostOptions, "role" | "models">): Device {
  const serves = role === "gpu" && (models === "on" || (models === "auto" && !device.software));
  return serves ? { ...device, servesModels: true } : device;
}

async function contentOf(file: ModelFile): Promise<string | Uint8Array> {
  return "path" in file ? file.path : file.read();
}

async function bytesOf(file: ModelFile): Promise<Uint8Array> {
  return "path" in file ? readFile(file.path) : file.read();
}

/** Keeps the pipelines that were used last. */
function remember(pipelines: Map<string, UsedPipeline>, pipeline: UsedPipeline): void {
  const key = JSON.stringify(pipeline);
  pipelines.delete(key);
  pipelines.set(key, pipeline);
  const oldest = pipelines.keys().next();
  if (pipelines.size > WARM_PIPELINES && !oldest.done) pipelines.delete(oldest.value);
}

/** The promise's outcome, or `cancelled` as soon as the signal is aborted. */
async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(new ProblemError("cancelled", "The call was cancelled"));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
