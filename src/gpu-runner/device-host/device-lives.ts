import { setTimeout as delay } from "node:timers/promises";
import { nameProcessFault } from "../../checkup/judge-host.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { Troubles } from "../host/troubles.ts";
import type { UsedPipeline } from "../devices/gpu/pipeline-cache.ts";
import { type CallOptions, type ChildOptions, DeviceChild } from "./device-child.ts";
import type { KeptModels } from "./kept-models.ts";
import * as machine from "./life-machine.ts";
import type { DeviceCallName, DeviceCalls, DeviceDescription } from "./messages.ts";

export const DESCRIBE = { limitMs: 30_000, limitCode: "device-lost" } as const;
const WARM = { limitMs: 30_000, limitCode: "device-lost" } as const;

/** Questions about a process, which are no work for it. */
const QUIET: ReadonlySet<DeviceCallName> = new Set(["readPool", "readResidentSet", "freeIdle"]);
/** Computations have budgets too short for the start of a process, and who asks for one usually comes again. */
const COMPUTE_REST_MS = 3_600_000;

export interface LivesOptions extends Omit<ChildOptions, "onEnd" | "onUsed"> {
  /** Facts about a device that cannot describe itself. */
  readonly known?: DeviceDescription;
  /** Takes the fault of a process that does not start again; absent: only the log has it. */
  readonly troubles?: Troubles | undefined;
  /** Time without a call after which a process that holds nothing ends, until the next call; absent: it stays. */
  readonly restAfterMs?: number;
}

/**
 * A device's process, kept alive. When it dies, pending calls fail with `device-lost`, a new process starts and loads
 * the models again. Calls that arrive meanwhile wait for it. A process without work, models and buffers may rest.
 */
export class DeviceLives {
  readonly description: DeviceDescription;
  readonly #options: LivesOptions;
  readonly #models: KeptModels;
  readonly #troubles: Troubles;
  readonly #stopping = new AbortController();
  #pipelines: readonly UsedPipeline[] = [];
  #lives = machine.FIRST_LIFE;
  /** The process that lives or is being prepared. */
  #child: DeviceChild;
  /** Settles when the current life can accept calls. */
  #ready: Promise<DeviceChild>;
  #calls = 0;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #isResting = false;
  #computedAtMs = Number.NEGATIVE_INFINITY;

  private constructor(
    options: LivesOptions,
    models: KeptModels,
    { child, description }: { readonly child: DeviceChild; readonly description: DeviceDescription },
  ) {
    this.#options = options;
    this.#models = models;
    this.#troubles = options.troubles ?? new Troubles(options.logger);
    this.#child = child;
    this.#ready = Promise.resolve(child);
    this.description = description;
  }

  /** Starts the first life. Fails with its problem where it describes no device. */
  static async open(options: LivesOptions, models: KeptModels): Promise<DeviceLives> {
    const { deviceKey, known } = options;
    let lives: DeviceLives | null = null;
    const child = new DeviceChild({
      ...options,
      onEnd: (dead) => {
        if (lives !== null) lives.#onEnd(dead);
      },
      onUsed: (pipeline) => {
        if (lives !== null) lives.#remember(pipeline);
      },
    });
    try {
      const description = await child.call("describe", { deviceKey, ...(known && { known }) }, DESCRIBE);
      lives = new DeviceLives(options, models, { child, description });
      lives.#restSoon();
      return lives;
    } catch (error) {
      child.kill();
      throw error;
    }
  }

  /** Process id of the current life; null while there is none. */
  get pid(): number | null {
    return this.#child.alive ? this.#child.pid : null;
  }

  get isDown(): boolean {
    return this.#lives.isDown;
  }

  /** Whether the process has ended for lack of work; the next call starts a new one. */
  get isResting(): boolean {
    return this.#isResting;
  }

  get restarts(): number {
    return this.#lives.restarts;
  }

  /** Aborted once the process is stopped for good. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  async call<Name extends DeviceCallName>(
    name: Name,
    input: DeviceCalls[Name]["input"],
    options: CallOptions,
  ): Promise<DeviceCalls[Name]["output"]> {
    const isQuiet = QUIET.has(name);
    if (!isQuiet) {
      this.#calls++;
      clearTimeout(this.#rest);
      if (name === "compute") this.#computedAtMs = performance.now();
    }
    try {
      this.#wake();
      const child = await untilAborted(this.#ready, options.signal);
      try {
        return await child.call(name, input, options);
      } finally {
        if (child.alive) this.#lives = machine.noteServed(this.#lives);
      }
    } finally {
      if (!isQuiet) {
        this.#calls--;
        this.#restSoon();
      }
    }
  }

  #restSoon(): void {
    const { restAfterMs } = this.#options;
    if (restAfterMs === undefined || this.#calls > 0 || this.#isResting || this.#stopping.signal.aborted) return;
    clearTimeout(this.#rest);
    const restMs = Math.max(restAfterMs, this.#computedAtMs + COMPUTE_REST_MS - performance.now());
    this.#rest = setTimeout(() => void this.#tryRest(), restMs).unref();
  }

  /** Ends the process unless it has work or holds models or buffers. */
  async #tryRest(): Promise<void> {
    const child = this.#child;
    const isIdle = () => this.#calls === 0 && !this.#lives.isDown && child.alive && this.#models.isEmpty;
    const pool = isIdle() ? await child.call("readPool", null, DESCRIBE).catch(() => null) : null;
    if (pool?.liveBytes !== 0 || !isIdle()) return this.#restSoon();
    this.#isResting = true;
    this.#pipelines = [];
    this.#options.logger.info({ deviceKey: this.#options.deviceKey }, "device process rests");
    child.kill();
  }

  #wake(): void {
    if (!this.#isResting || this.#stopping.signal.aborted) return;
    this.#isResting = false;
    this.#ready = this.#child.exited
      .then(() => {
        this.#stopping.signal.throwIfAborted();
        return this.#startLife();
      })
      .catch((error: unknown) => {
        this.#tellNoStart(error);
        this.#lives = machine.noteDeath(this.#lives, 0);
        return this.#revive();
      });
    this.#ready.catch(() => {});
    this.#restSoon();
  }

  /** Ends the process for good; pending calls fail with `device-lost`. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#rest);
    this.#child.kill();
    await this.#child.exited;
    // One that was being started ends, too.
    await this.#ready.catch(() => {});
    this.#child.kill();
    await this.#child.exited;
  }

  #remember(pipeline: UsedPipeline): void {
    this.#pipelines = machine.rememberUsed(this.#pipelines, pipeline);
  }

  /** Replaces `#ready` before any caller learns of the death, so that a second attempt waits for the next life. */
  #onEnd(dead: DeviceChild): void {
    if (dead !== this.#child || this.#isResting || this.#stopping.signal.aborted) return;
    const { deviceKey, logger } = this.#options;
    const livedMs = performance.now() - dead.bornAt;
    logger.warn({ deviceKey, livedMs, restarts: this.restarts }, "device process died");
    this.#lives = machine.noteDeath(this.#lives, livedMs);
    this.#ready = dead.exited.then(() => this.#revive());
    this.#ready.catch(() => {});
  }

  async #revive(): Promise<DeviceChild> {
    for (;;) {
      const { waitMs, lives } = machine.planLife(this.#lives);
      this.#lives = lives;
      await delay(waitMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (this.#stopping.signal.aborted) throw new ProblemError("device-lost", "The device was stopped");
      this.#lives = machine.noteStart(this.#lives);
      try {
        return await this.#startLife();
      } catch (error) {
        this.#tellNoStart(error);
      }
    }
  }

  #tellNoStart(error: unknown): void {
    const { deviceKey } = this.#options;
    const isMemory = error instanceof ProblemError && error.problem.code === "out-of-memory";
    const reason = error instanceof Error ? error.message : String(error);
    this.#troubles.tell(nameProcessFault(deviceKey, reason, isMemory), deviceKey);
  }

  async #startLife(): Promise<DeviceChild> {
    let ready = false;
    const child = new DeviceChild({
      ...this.#options,
      // Before it is ready, its death is an error of the calls below.
      onEnd: (dead) => ready && this.#onEnd(dead),
      onUsed: (pipeline) => this.#remember(pipeline),
    });
    this.#child = child;
    try {
      const { deviceKey } = this.#options;
      await child.call("describe", { deviceKey, known: this.description }, DESCRIBE);
      await this.#warm(child);
      await this.#models.reloadAll(child);
    } catch (error) {
      child.kill();
      throw error;
    }
    ready = true;
    this.#troubles.ended(this.#options.deviceKey);
    this.#lives = machine.noteReady(this.#lives);
    return child;
  }

  /**
   * Compiles the pipelines of the last life before a caller has to wait for them; one that kills the process is not
   * tried twice.
   */
  async #warm(child: DeviceChild): Promise<void> {
    const pipelines = this.#pipelines;
    this.#pipelines = [];
    if (pipelines.length > 0) await child.call("warm", { pipelines }, WARM);
  }
}

/** The promise's outcome, or `cancelled` as soon as the signal is aborted. */
export async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
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
