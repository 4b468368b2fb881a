import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { BaseLogger } from "pino";
import type { JobProgress } from "../../protocol/jobs/job.ts";
import { type ProblemCode, ProblemError, reviveProblem, toProblem } from "../../protocol/wire/problem.ts";
import type { UsedPipeline } from "../devices/gpu/pipeline-cache.ts";
import type { RollOutElsewhere } from "../rollout/population.ts";
import { watchMemory } from "../host/process-meter.ts";
import { type CardView, throughView } from "./card-view.ts";
import type { DeviceCallName, DeviceCalls, DeviceReply, DeviceRequest, DeviceRole } from "./messages.ts";

/**
 * Byte with which glibc fills freed memory, and with its complement new memory: buffers from ONNX Runtime, Node or a
 * driver hold nothing of their previous owner. Other C libraries ignore it.
 * Source: mallopt(3), M_PERTURB.
 */
const PERTURB_BYTE = "85";
/**
 * Bytes from which glibc returns memory when it is freed. Its own limits rise with the largest buffer that was freed, and
 * a process then keeps hundreds of megabytes of compiled programs and read files. Source: mallopt(3).
 */
const RETURNED_BYTES = String(128 * 1024);

/** Variables of the edge's operator for the runner alone: tokens, headers of a collector. */
const OWN = /^(MILLRACE|OTEL)_/;

/**
 * Environment of a device's process: the runner's own without its secrets, plus the variables that the driver needs.
 */
export function childEnvironment(own: NodeJS.ProcessEnv, added: Readonly<NodeJS.Dict<string>>): NodeJS.ProcessEnv {
  const inherited = Object.entries(own).filter(([name]) => !OWN.test(name));
  return {
    MALLOC_TRIM_THRESHOLD_: RETURNED_BYTES,
    MALLOC_MMAP_THRESHOLD_: RETURNED_BYTES,
    ...Object.fromEntries(inherited),
    MALLOC_PERTURB_: PERTURB_BYTE,
    ...added,
  };
}

const ENTRY = new URL("../device-program/device-process.ts", import.meta.url);
/** Time from SIGTERM to SIGKILL. */
const KILL_GRACE_MS = 500;
/** Time from a polite abort to the end of the process. */
const ABORT_GRACE_MS = 2_000;
/** Signals that a process raises by itself: its own work is to blame. */
const CRASHES: ReadonlySet<string | null> = new Set(["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE"]);

export type DeviceLogger = Pick<BaseLogger, "info" | "warn" | "error">;

export interface ChildOptions {
  readonly role: DeviceRole;
  readonly deviceKey: string;
  /** Part of the name of the adapter to open; the best adapter where absent. */
  readonly adapter?: string;
  /** The only card that the process is shown; all where absent. */
  readonly view?: CardView | undefined;
  /** Card of a provider of ONNX Runtime, by its own numbers. */
  readonly deviceId?: number;
  /** Shared libraries that the process must be able to load. */
  readonly libraries?: readonly string[];
  /** Program to run; `device-process.ts` where absent. */
  readonly entry?: URL;
  /** Variables added to this process's environment. */
  readonly environment: Readonly<NodeJS.Dict<string>>;
  /** Limit of the total size of the device's buffers. */
  readonly memoryBytes?: number | undefined;
  /** Memory limit of the process, which is killed beyond it; no limit where absent. */
  readonly processBytes?: number | undefined;
  readonly logger: DeviceLogger;
  /** Called once when the process has ended or is about to be killed, before any call that is lost with it fails. */
  readonly onEnd: (child: DeviceChild) => void;
  readonly onUsed?: (pipeline: UsedPipeline) => void;
}

export interface CallOptions {
  /** The process is killed when a call takes longer. */
  readonly limitMs: number;
  /** Problem code of a call that took too long. */
  readonly limitCode: ProblemCode;
  readonly signal?: AbortSignal | undefined;
  /** Whether an aborted call must end, if necessary by force; otherwise its answer is ignored. */
  readonly endOnAbort?: boolean;
  readonly onProgress?: ((progress: JobProgress) => void) | undefined;
  readonly onCheckpoint?: ((file: Uint8Array<ArrayBuffer>) => void) | undefined;
  readonly onRollOut?: RollOutElsewhere | undefined;
  /**
   * Called once where the process ended because of this call: it took too long, or was running at a crash or when
   * memory ran out.
   */
  readonly onBlame?: ((code: ProblemCode) => void) | undefined;
}

interface PendingCall {
  resolve(output: never): void;
  reject(error: unknown): void;
  readonly onProgress: CallOptions["onProgress"];
  readonly onCheckpoint: CallOptions["onCheckpoint"];
  readonly onRollOut: CallOptions["onRollOut"];
  readonly onBlame: CallOptions["onBlame"];
  /** Time since when this is the first call that can be blamed; null while another one is. */
  firstAtMs: number | null;
}

/** One life of a device process: it dies once, and every pending call then fails with `device-lost`. */
export class DeviceChild {
  readonly bornAt = performance.now();
  readonly exited: Promise<void>;
  readonly #process: ChildProcess;
  readonly #options: ChildOptions;
  readonly #pending = new Map<number, PendingCall>();
  #nextId = 1;
  #ended = false;

  constructor(options: ChildOptions) {
    this.#options = options;
    const { role, adapter, view, entry = ENTRY, memoryBytes, deviceId, libraries } = options;
    const given = { role, adapter, "memory-bytes": memoryBytes, "device-id": deviceId, libraries: libraries?.join() };
    const args = Object.entries(given).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, String(value)],
    );
    this.#process = fork(fileURLToPath(entry), args, {
      serialization: "advanced",
      ...(view === undefined ? { execArgv: [] } : throughView(view)),
      env: childEnvironment(process.env, options.environment),
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#forwardOutput();
    const stopWatching = watchMemory(this.pid, options.processBytes, (bytes) => this.#endForMemory(bytes));
    this.#process.once("close", stopWatching);
    this.#process.on("message", (reply) => this.#receive(reply as DeviceReply));
    // A failed send is followed by the exit; a failed spawn has no exit.
    this.#process.on("error", (error) =>
      options.logger.warn({ deviceKey: options.deviceKey, error: error.message }, "device process"),
    );
    this.exited = new Promise((resolve) => {
      this.#process.once("close", (code, signal) => {
        this.#end();
        if (CRASHES.has(signal)) this.#oldest?.onBlame?.("device-lost");
        const error = lost(`ended (${signal ?? `code ${code}`})`);
        for (const pending of this.#pending.values()) pending.reject(error);
        resolve();
      });
    });
  }

  get pid(): number | null {
    return this.#process.pid ?? null;
  }

  /** False as soon as the process has ended or is about to be killed. */
  get alive(): boolean {
    return !this.#ended;
  }

  /** Makes one call; fails with the process's own problem, `device-lost`, `cancelled` or the limit's code. */
  call<Name extends DeviceCallName>(
    name: Name,
    input: DeviceCalls[Name]["input"],
    options: CallOptions,
  ): Promise<DeviceCalls[Name]["output"]> {
    const { limitMs, limitCode, signal, endOnAbort = false, onProgress, onCheckpoint, onRollOut, onBlame } = options;
    const id = this.#nextId++;
    return new Promise<DeviceCalls[Name]["output"]>((resolve, reject) => {
      let abortTimer: NodeJS.Timeout | undefined;
      let limitTimer: NodeJS.Timeout | undefined;
      // Created only when needed: an error captures its stack, and every inference is a call.
      const cancelled = () => new ProblemError("cancelled", `The call '${name}' was cancelled`);
      const expire = () => {
        // A call that waited behind one that ran out of time is not to blame.
        if (!this.alive) return settle(() => reject(lost("was ended under another call")));
        const leftMs = onBlame === undefined ? 0 : limitMs - this.#timeAsFirstMs(id);
        if (leftMs > 0) {
          limitTimer = setTimeout(expire, leftMs);
          return;
        }
        this.kill();
        onBlame?.(limitCode);
        settle(() => reject(new ProblemError(limitCode, `The device did not finish '${name}' in ${limitMs} ms`)));
      };
      limitTimer = setTimeout(expire, limitMs);
      const abort = () => {
        this.#send({ type: "abort", id });
        if (!endOnAbort) return settle(() => reject(cancelled()));
        abortTimer = setTimeout(() => {
          this.kill();
          settle(() => reject(cancelled()));
        }, ABORT_GRACE_MS);
      };
      const settle = (finish: () => void) => {
        clearTimeout(limitTimer);
        clearTimeout(abortTimer);
        signal?.removeEventListener("abort", abort);
        this.#pending.delete(id);
        this.#noteFirst();
        finish();
      };
      this.#pending.set(id, {
        resolve: (output) => settle(() => resolve(output)),
        reject: (error) => settle(() => reject(error)),
        onProgress,
        onCheckpoint,
        onRollOut,
        onBlame,
        firstAtMs: null,
      });
      this.#noteFirst();
      if (signal?.aborted) return settle(() => reject(cancelled()));
      signal?.addEventListener("abort", abort, { once: true });
      if (!this.alive) return settle(() => reject(lost("is gone")));
      this.#send({ type: "call", id, name, input } as DeviceRequest);
    });
  }

  /** Ends the process: SIGTERM, then SIGKILL if it does not exit. */
  kill(): void {
    if (this.#ended) return;
    this.#end();
    this.#process.kill("SIGTERM");
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), KILL_GRACE_MS);
    void this.exited.then(() => clearTimeout(timer));
  }

  /** The oldest pending call: the one that runs, in a process that does one thing after the other. */
  get #oldest(): PendingCall | undefined {
    return this.#pending.values().next().value;
  }

  /**
   * Starts the clock of the first call that can be blamed: its wait behind another model's call does not count against
   * it.
   */
  #noteFirst(): void {
    for (const pending of this.#pending.values()) {
      if (pending.onBlame === undefined) continue;
      pending.firstAtMs ??= performance.now();
      return;
    }
  }

  #timeAsFirstMs(id: number): number {
    const sinceMs = this.#pending.get(id)?.firstAtMs ?? null;
    return sinceMs === null ? 0 : performance.now() - sinceMs;
  }

  /** Kills the process at once: one that exhausts memory may not react to SIGTERM. */
  #endForMemory(bytes: number): void {
    const detail = `The device's process had ${bytes} bytes in memory and may have ${this.#options.processBytes}`;
    const blamed = this.#oldest;
    this.#end();
    this.#process.kill("SIGKILL");
    blamed?.onBlame?.("out-of-memory");
    blamed?.reject(new ProblemError("out-of-memory", detail));
  }

  #send(request: DeviceRequest): void {
    // A process that is gone is handled when its exit is noticed.
    if (this.#process.connected) this.#process.send(request, () => {});
  }

  #receive(reply: DeviceReply): void {
    if (reply.type === "used") return this.#options.onUsed?.(reply.pipeline);
    const pending = this.#pending.get(reply.id);
    if (pending === undefined) return;
    if (reply.type === "progress") pending.onProgress?.(reply.progress);
    else if (reply.type === "checkpoint") pending.onCheckpoint?.(reply.file);
    else if (reply.type === "rollOut") void this.#answer(reply, pending.onRollOut);
    else if (reply.type === "problem") pending.reject(reviveProblem(reply.problem));
    else pending.resolve(reply.output as never);
  }

  /** Answers a question of a call; one that nobody answers for the caller is refused. */
  async #answer(
    { question, request }: Extract<DeviceReply, { type: "rollOut" }>,
    rollOut: RollOutElsewhere | undefined,
  ): Promise<void> {
    try {
      if (rollOut === undefined) throw new ProblemError("backend-failed", "This call has no other device");
      this.#send({ type: "answer", question, results: await rollOut(request) });
    } catch (error) {
      this.#send({ type: "refusal", question, problem: toProblem(error) });
    }
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.onEnd(this);
  }

  #forwardOutput(): void {
    const { logger, deviceKey } = this.#options;
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) =>
        logger.info({ deviceKey, line }, "device process output"),
      );
    }
  }
}

function lost(what: string): ProblemError {
  return new ProblemError("device-lost", `The device's process ${what}`);
}
