import type { NetworkLayouts } from "../../protocol/models/network-layout.ts";
import path from "node:path";
import type { AxisValues } from "../../../kernels/kernel-spec.ts";
import type { Device, Hardware, KernelAnnouncement } from "../../protocol/fleet/hardware.ts";
import type { BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import type { NodePlaces } from "../../protocol/jobs/calibration.ts";
import type { JobProgress } from "../../protocol/jobs/job.ts";
import type { KernelProgram } from "../../protocol/kernels/kernel-definition.ts";
import type { PoolState } from "../../protocol/fleet/memory.ts";
import type { ProbedClaim } from "../../protocol/jobs/probe.ts";
import { type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";
import type { Tensor } from "../../protocol/wire/tensor.ts";
import type { KernelTuningSpec } from "../../protocol/jobs/tuning.ts";
import type { BenchmarkMeasurement } from "../kernels/benchmark/benchmark-kernel.ts";
import type { TuningMeasurement } from "../kernels/tuning/tune-kernel.ts";
import type { ModelContent } from "../devices/ort/model-paths.ts";
import { installSoftwareGpu } from "../devices/gpu/software-gpu.ts";
import type { InferenceOutcome } from "../devices/ort/ort-backend.ts";
import type { CardView } from "./card-view.ts";
import { nameProcessFault } from "../../checkup/judge-host.ts";
import type { Troubles } from "../host/troubles.ts";
import { ApartProcess, timeoutOf } from "./call-apart.ts";
import type { DeviceLogger } from "./device-child.ts";
import type { RollOutElsewhere } from "../rollout/population.ts";
import { DESCRIBE, DeviceLives, untilAborted } from "./device-lives.ts";
import { readContent, KeptModels, type ModelFile } from "./kept-models.ts";
import type { DeviceCallName, DeviceCalls, DeviceDescription, DeviceRole } from "./messages.ts";

type Environment = Readonly<NodeJS.Dict<string>>;

export interface DeviceHostOptions {
  readonly role: DeviceRole;
  readonly deviceKey: string;
  /** Folder of the unpacked software GPU and of compiled code. */
  readonly cacheDir: string;
  /** Limit of the total size of a GPU's buffers; no limit where absent. */
  readonly memoryBytes?: number;
  /** Memory limit of each process of the device, whatever runs there; no limit where absent. */
  readonly processBytes?: number;
  /** Time limit of one run of a model, and of loading it; `RUN_LIMIT_MS` where absent. */
  readonly runLimitMs?: number;
  readonly logger: DeviceLogger;
  /** Whether a GPU serves models by WGSL; `auto` means unless it is an emulation, absent means `off`. */
  readonly models?: "auto" | "on" | "off";
  /** `own` means the machine's drivers, `software` the one from npm, `auto` the first of them that opens. */
  readonly driver?: "auto" | "own" | "software";
  /** Part of the name of the adapter to open; the best adapter where absent. */
  readonly adapter?: string;
  /** The only card that the processes of the device are shown; all where absent. */
  readonly view?: CardView | undefined;
  /** For a provider of ONNX Runtime: which card, by its own numbers; the first where absent. */
  readonly deviceId?: number;
  /** Shared libraries that the process must be able to load. */
  readonly libraries?: readonly string[];
  /** Variables by which the process finds its driver, if known: the environment of another device's process. */
  readonly environment?: Environment;
  /** Description of a device that cannot describe itself. */
  readonly known?: DeviceDescription;
  /** Time without work after which the process of a GPU that holds nothing ends, until it is needed. */
  readonly restAfterMs?: number;
  /** Takes the fault of a process that does not start. */
  readonly troubles?: Troubles | undefined;
  /** Program of the process, where it is not the usual one. */
  readonly entry?: URL;
}

/** Options for watching a heavy call and ending it early. */
export interface WorkOptions {
  readonly onProgress?: (progress: JobProgress) => void;
  /** Receives files from which the call could continue in another process. */
  readonly onCheckpoint?: (file: Uint8Array<ArrayBuffer>) => void;
  /** Rolls out for the call, on devices of the caller's choice. */
  readonly onRollOut?: RollOutElsewhere;
  readonly signal?: AbortSignal;
}

/** Problems of a process that ended, beside those of one that finds no device. */
const DEATHS: ReadonlySet<ProblemCode> = new Set(["device-lost", "out-of-memory"]);
const UNLOAD = { limitMs: 60_000, limitCode: "device-lost" } as const;

/** Grace beyond a search's own time limit: it ends by itself, unless a candidate hangs. */
export const TUNING_GRACE_MS = 120_000;

/** A device as the runner sees it: the calls that its process accepts, whichever of its lives answers them. */
export class DeviceHost {
  readonly device: Device;
  readonly kernels: KernelAnnouncement[];
  /** Digest of each kernel's files, by name: another program has another digest. */
  readonly kernelDigests: Readonly<Record<string, string>>;
  /** Names of the adapters that the driver of this device offers; equal cards have equal names. */
  readonly adapters: readonly string[];
  /** Variables added to the runner's environment, so that the process finds its driver. */
  readonly environment: Environment;
  readonly view: CardView | undefined;
  readonly #options: DeviceHostOptions;
  readonly #lives: DeviceLives;
  readonly #models: KeptModels;
  #waiting = 0;
  #lastWork: Promise<unknown> = Promise.resolve();

  private constructor(options: DeviceHostOptions, environment: Environment, lives: DeviceLives, models: KeptModels) {
    this.#options = options;
    this.environment = environment;
    this.#lives = lives;
    this.#models = models;
    const { device, kernels, kernelDigests, adapters } = lives.description;
    const { view } = options;
    this.device = { ...withModels(device, options), ...(view && { board: view.board }) };
    this.view = view;
    this.kernels = kernels;
    this.kernelDigests = kernelDigests;
    this.adapters = adapters;
  }

  /**
   * Starts the device's process. A GPU is sought among the machine's own drivers (Dawn prefers a real one to Mesa's
   * lavapipe), then in the software GPU from npm.
   * The first process that describes a device stays. Fails with the last one's problem.
   */
  static async start(options: DeviceHostOptions): Promise<DeviceHost> {
    const { role, driver = "auto", cacheDir, deviceKey, logger, environment } = options;
    if (environment !== undefined) return DeviceHost.#open(options, environment);
    // Most of a start is loading our own code and zod: kept compiled, it takes a third of the time.
    const { NODE_COMPILE_CACHE = path.resolve(cacheDir, "compile-cache") } = process.env;
    const compiled = { NODE_COMPILE_CACHE };
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
        const problem = error instanceof ProblemError ? error.problem : null;
        if (problem !== null && DEATHS.has(problem.code)) {
          const isMemory = problem.code === "out-of-memory";
          options.troubles?.tell(nameProcessFault(deviceKey, problem.detail, isMemory), deviceKey);
        }
        logger.info({ deviceKey, reason: error instanceof Error ? error.message : String(error) }, "no device here");
      }
    }
    throw failure;
  }

  static async #open(options: DeviceHostOptions, environment: Environment): Promise<DeviceHost> {
    const models = new KeptModels(options);
    return new DeviceHost(options, environment, await DeviceLives.open({ ...options, environment }, models), models);
  }

  /** Process id of the current life; null while there is none, or it rests. */
  get pid(): number | null {
    return this.#lives.pid;
  }

  /** Whether the process has died and no new one is ready yet. */
  get isDown(): boolean {
    return this.#lives.isDown;
  }

  /** Number of calls that need the device to themselves and have not ended. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Number of restarts of the process. */
  get restarts(): number {
    return this.#lives.restarts;
  }

  /**
   * Checks and times a kernel; see `work`. On the CPU, whose process serves models, it runs in a process of its own;
   * see `workApart`.
   */
  benchmark(
    spec: BenchmarkSpec,
    { axes = spec.axes ?? {}, ...options }: WorkOptions & { axes?: AxisValues } = {},
  ): Promise<BenchmarkMeasurement> {
    const input = { spec, axes };
    if (this.#options.role === "gpu") return this.work("benchmark", input, spec.timeoutMs, options);
    return this.workApart("benchmark", input, spec.timeoutMs, "device-lost", options);
  }

  /** Searches for a kernel's fastest variant and axes; see `work`. */
  tune(spec: KernelTuningSpec, options: WorkOptions = {}): Promise<TuningMeasurement> {
    return this.work("tune", { spec }, spec.budgetMs + TUNING_GRACE_MS, options);
  }

  /**
   * Makes a call that needs the device to itself: such calls wait for each other. Beyond `timeoutMs` the process is
   * killed and the call fails with `kernel-timeout`. An aborted signal ends it with `cancelled`.
   */
  async work<Name extends DeviceCallName>(
    name: Name,
    input: DeviceCalls[Name]["input"],
    timeoutMs: number,
    { onProgress, signal }: WorkOptions = {},
  ): Promise<DeviceCalls[Name]["output"]> {
    const limits = { limitMs: timeoutMs, limitCode: "kernel-timeout", endOnAbort: true, signal, onProgress } as const;
    return untilAborted(
      this.#inTurn(() => this.#lives.call(name, input, limits)),
      signal,
    );
  }

  /**
   * Checks and times a submitted kernel; see `workApart`. A process that dies under it fails with `backend-failed`, so
   * that it is not tried in another process.
   */
  benchmarkProgram(
    spec: BenchmarkSpec,
    program: KernelProgram,
    options: WorkOptions = {},
  ): Promise<BenchmarkMeasurement> {
    return this.workApart("benchmarkProgram", { spec, program }, timeoutOf(spec, program), "backend-failed", options);
  }

  /**
   * Makes a call in a process of its own, which ends with it. It waits for its turn and is watched like `work`; it
   * fails with `died` where the process dies under it.
   * Its buffers fit beside those that this device's process has in use.
   */
  workApart<Name extends DeviceCallName>(
    name: Name,
    input: DeviceCalls[Name]["input"],
    timeoutMs: number,
    died: ProblemCode,
    { signal, ...options }: WorkOptions = {},
  ): Promise<DeviceCalls[Name]["output"]> {
    const call = { limitMs: timeoutMs, limitCode: "kernel-timeout", ...options } as const;
    return this.holdApart((open, ended) => open().call(name, input, { ...call, signal: ended }, died), signal);
  }

  /**
   * Gives the device to work that may make many calls, in processes that end with it; it waits for its turn. `open`
   * gives a process with this share of the memory that the device has left. The work's signal is aborted by the given
   * one, by the device's end, and once the work has ended, before its processes are closed.
   */
  holdApart<Output>(
    work: (open: (memoryShare?: number) => ApartProcess, ended: AbortSignal) => Promise<Output>,
    signal?: AbortSignal,
  ): Promise<Output> {
    const ended = AbortSignal.any([this.#lives.stopping, ...(signal === undefined ? [] : [signal])]);
    const opened: ApartProcess[] = [];
    const done = new AbortController();
    const turn = this.#inTurn(async () => {
      const leftBytes = await this.#leftBytes(ended);
      const open = (memoryShare = 1) => {
        const memoryBytes = leftBytes === undefined ? undefined : Math.floor(leftBytes * memoryShare);
        const options = { ...this.#options, environment: this.environment, memoryBytes };
        const apart = new ApartProcess(options, this.#lives.description);
        opened.push(apart);
        return apart;
      };
      try {
        return await work(open, AbortSignal.any([ended, done.signal]));
      } finally {
        done.abort();
        await Promise.all(opened.map((apart) => apart.close()));
      }
    });
    return untilAborted(turn, ended);
  }

  /**
   * Checks the claimed facts about this device and this machine, in a process of its own; see `workApart`. Fails with
   * `device-lost` where the process dies of it.
   */
  probe(hardware: Hardware, timeoutMs: number, options: WorkOptions = {}): Promise<ProbedClaim[]> {
    return this.workApart("probe", { claimed: this.device, hardware }, timeoutMs, "device-lost", options);
  }

  /**
   * Loads an ONNX file, here and in every later life, until it is unloaded. It runs with this many threads, one by
   * default. A model that is loaded under the key already answers until this one can. `layouts` were measured before in our
   * own kernels; `onChosen` receives those that this load or a later request measures.
   */
  async loadModel({
    modelKey,
    threads = 1,
    layouts = {},
    onChosen = () => {},
    ...file
  }: {
    modelKey: string;
    threads?: number;
    layouts?: NetworkLayouts;
    onChosen?: (layouts: NetworkLayouts) => void;
  } & ModelFile): Promise<{ loadMs: number }> {
    this.#models.refuse(modelKey);
    const load = () => this.#models.load(this.#lives, modelKey, { file, threads, layouts });
    // A GPU's process compiles and measures during a load, and a device does one such piece of work at a time.
    const loaded = await (this.#options.role === "gpu" ? this.#inTurn(load) : load());
    this.#models.keep(modelKey, { file, threads, layouts, onChosen });
    this.#models.noteLayouts(modelKey, loaded.layouts);
    return loaded;
  }

  /**
   * Growth in bytes of a process that loads a model which is loaded here and runs these batches in turn; see
   * `workApart`.
   */
  async measureMemory(
    modelKey: string,
    batches: readonly (readonly Tensor[])[],
    { timeoutMs, ...options }: WorkOptions & { readonly timeoutMs: number },
  ): Promise<number[]> {
    const { file, threads } = this.#models.find(modelKey);
    const model = await readContent(file);
    return this.workApart("measureMemory", { model, batches, threads }, timeoutMs, "backend-failed", options);
  }

  /**
   * Cost of starting a model that is loaded here in an empty process, and of a first answer to these tensors; see
   * `workApart`.
   */
  async measureStart(
    modelKey: string,
    tensors: readonly Tensor[],
    { timeoutMs, ...options }: WorkOptions & { readonly timeoutMs: number },
  ): Promise<{ loadMs: number; firstAnswerMs: number }> {
    const { file, threads } = this.#models.find(modelKey);
    const model = await readContent(file);
    return this.workApart("measureStart", { model, tensors, threads }, timeoutMs, "backend-failed", options);
  }

  /** Layouts that a model is loaded with or has measured since, by sizes. Fails with `not-found` where it is not loaded. */
  layoutsOf(modelKey: string): NetworkLayouts {
    return this.#models.find(modelKey).layouts;
  }

  async unloadModel(modelKey: string): Promise<void> {
    this.#models.forget(modelKey);
    await this.#lives.call("unloadModel", { modelKey }, UNLOAD);
  }

  /**
   * Loads a file and answers these tensors in a process of its own, before the file reaches a process that serves; see
   * `workApart`. Returns where its nodes ran, as far as that may differ.
   * Fails with `backend-failed` where it ends the process, or exceeds its time limit.
   */
  async tryModel(
    model: ModelContent,
    tensors: readonly Tensor[],
    { threads = 1, signal }: { threads?: number; signal: AbortSignal },
  ): Promise<NodePlaces | null> {
    const limitMs = this.#models.runLimitMs;
    const input = { model, tensors, threads };
    return this.workApart("tryModel", input, limitMs, "backend-failed", { signal }).catch((error: unknown) => {
      if (!(error instanceof ProblemError) || error.problem.code !== "kernel-timeout") throw error;
      const detail = `The model took more than ${limitMs} ms to be loaded and to answer one row.`;
      throw new ProblemError("backend-failed", detail);
    });
  }

  /**
   * Runs a loaded model. An abort rejects with `cancelled` at once; a computation that has begun is left to finish.
   * Fails with `model-quarantined` where the model ended the process too often.
   */
  async infer(
    modelKey: string,
    tensors: readonly Tensor[],
    { requestId, signal }: { requestId: string; signal?: AbortSignal },
  ): Promise<InferenceOutcome> {
    this.#models.refuse(modelKey);
    const limits = { ...this.#models.limitOf(modelKey), signal };
    const outcome = await this.#lives.call("infer", { modelKey, tensors, requestId }, limits);
    this.#models.noteLayouts(modelKey, outcome.layouts);
    return outcome;
  }

  /**
   * Counters of the device's buffer pool; null where it has none, or its process rests. An aborted signal fails with
   * `cancelled` and ends nothing.
   */
  async readPool(signal: AbortSignal): Promise<PoolState["counters"]> {
    if (this.#lives.isResting) return null;
    return this.#lives.call("readPool", null, { ...DESCRIBE, signal });
  }

  /** Bytes of the process in memory, as it reports them itself. */
  readResidentSet(signal: AbortSignal): Promise<number> {
    return this.#lives.call("readResidentSet", null, { ...DESCRIBE, signal });
  }

  /** Ends the process for good; pending calls fail with `device-lost`. */
  async stop(): Promise<void> {
    await this.#lives.stop();
    await this.#lastWork;
  }

  /** Remaining bytes of the device's memory once its process has released idle buffers; undefined without a limit. */
  async #leftBytes(signal: AbortSignal): Promise<number | undefined> {
    const { role, memoryBytes } = this.#options;
    if (role !== "gpu" || memoryBytes === undefined || this.isDown || this.#lives.isResting) return memoryBytes;
    // A process that dies of this request holds nothing any more.
    const usedBytes = await this.#lives.call("freeIdle", null, { ...DESCRIBE, signal }).catch(() => 0);
    return memoryBytes - usedBytes;
  }

  /** Runs work once everything before it has ended. */
  #inTurn<Output>(run: () => Promise<Output>): Promise<Output> {
    const turn = this.#lastWork.then(run);
    this.#waiting++;
    this.#lastWork = turn.catch(() => {}).finally(() => this.#waiting--);
    return turn;
  }
}

function withModels(device: Device, { role, models = "off" }: Pick<DeviceHostOptions, "role" | "models">): Device {
  const serves = role === "gpu" && (models === "on" || (models === "auto" && !device.software));
  return serves ? { ...device, servesModels: true } : device;
}
