import type { BenchmarkSpec } from "../../protocol/jobs/benchmark.ts";
import type { KernelProgram } from "../../protocol/kernels/kernel-definition.ts";
import { type ProblemCode, ProblemError } from "../../protocol/wire/problem.ts";
import { type CallOptions, type ChildOptions, DeviceChild } from "./device-child.ts";
import type { DeviceCallName, DeviceCalls, DeviceDescription } from "./messages.ts";

const DESCRIBE = { limitMs: 30_000, limitCode: "device-lost" } as const;

/**
 * A device process beside the one that serves: it shares no buffers or pipelines with it and leaves nothing behind. It
 * starts with the first call, and anew with the first one after a call that failed by its death. Once closed, it has
 * ended for good. It trusts the `known` description of the device.
 */
export class ApartProcess {
  readonly #options: Omit<ChildOptions, "onEnd">;
  readonly #known: DeviceDescription;
  #child: DeviceChild | null = null;
  /** The start of a process for all calls, until one of them has failed by its death. */
  #started: Promise<DeviceChild> | null = null;
  #isClosed = false;

  constructor(options: Omit<ChildOptions, "onEnd">, known: DeviceDescription) {
    this.#options = options;
    this.#known = known;
  }

  /**
   * Fails like the call, with `died` where the process died under it or since the last one, and with `cancelled` once
   * it is closed.
   */
  async call<Name extends DeviceCallName>(
    name: Name,
    input: DeviceCalls[Name]["input"],
    call: CallOptions,
    died: ProblemCode,
  ): Promise<DeviceCalls[Name]["output"]> {
    if (this.#isClosed) throw closed();
    const started = (this.#started ??= this.#start(call.signal));
    const child = await started.catch((error: unknown) => {
      this.#forget(started);
      throw this.#isClosed ? closed() : error;
    });
    return child.call(name, input, call).catch((error: unknown) => {
      if (this.#isClosed) throw closed();
      if (!child.alive) this.#forget(started);
      if (!(error instanceof ProblemError) || error.problem.code !== "device-lost") throw error;
      throw new ProblemError(died, `${error.problem.detail} under this call`);
    });
  }

  /** Resolves once the process has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#child?.kill();
    await this.#child?.exited;
  }

  #forget(started: Promise<DeviceChild>): void {
    if (this.#started === started) this.#started = null;
  }

  async #start(signal: AbortSignal | undefined): Promise<DeviceChild> {
    const child = new DeviceChild({ ...this.#options, onEnd: () => undefined });
    this.#child = child;
    try {
      await child.call("describe", { deviceKey: this.#options.deviceKey, known: this.#known }, { ...DESCRIBE, signal });
      return child;
    } catch (error) {
      child.kill();
      throw error;
    }
  }
}

function closed(): ProblemError {
  return new ProblemError("cancelled", "The work that this process was for has ended");
}

/** Time limit of a benchmark, in milliseconds: a submitted kernel has a limit of its own beside the job's. */
export function timeoutOf({ timeoutMs }: BenchmarkSpec, program: KernelProgram | null): number {
  return Math.min(timeoutMs, program?.definition.limits.timeoutMs ?? timeoutMs);
}
