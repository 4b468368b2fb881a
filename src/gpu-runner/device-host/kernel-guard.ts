import type { Fault } from "../../protocol/wire/fault.ts";
import type { Device, QuarantinedKernel } from "../../protocol/fleet/hardware.ts";
import type { JobProgress } from "../../protocol/jobs/job.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type SpanScope, traced } from "../../telemetry/span.ts";
import type { DeviceHost, WorkOptions } from "./device-host.ts";
import type { FailureFile } from "./failure-file.ts";
import { type FailureRecord, lockedOutForMs, noteFailure } from "./quarantine.ts";

/** Parts of a device's host that the guard reads. */
type GuardedHost = Pick<DeviceHost, "device" | "kernelDigests">;

/** A piece of work on a kernel: it may be started again after its device was lost. */
export interface GuardedWork<Output> {
  readonly kernel: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: JobProgress) => void;
  /** Span of the work; absent or null where it is not traced. */
  readonly scope?: SpanScope | null;
  run(options: Required<Omit<WorkOptions, "onCheckpoint" | "onRollOut">>): Promise<Output>;
}

/** A call that runs out of time counts against its kernel if it was silent for this share of that time… */
const SILENT_SHARE = 0.5;
/** …and for this long: steady but slow work was given too little time, which is the caller's fault. */
const SILENT_MS = 500;

/**
 * Guards devices against kernels that make them fail. It restarts work once whose device was lost, remembers which
 * kernels failed where, and locks them out there.
 */
export class KernelGuard {
  readonly #file: FailureFile;
  readonly #onChange: () => void;
  readonly #attempts = new Map<string, { done: number; failed: number }>();

  /** `onChange` is called when a kernel is locked out, or runs well again. */
  constructor(file: FailureFile, onChange: () => void) {
    this.#file = file;
    this.#onChange = onChange;
  }

  /** Runs work on a device. Fails with its problem, or at once with `kernel-quarantined`. */
  async run<Output>(host: GuardedHost, work: GuardedWork<Output>): Promise<{ output: Output; faults: Fault[] }> {
    const faults: Fault[] = [];
    for (;;) {
      this.#refuse(host, work.kernel);
      let heardAtMs: number | null = null;
      const onProgress = (progress: JobProgress) => {
        heardAtMs = performance.now();
        work.onProgress(progress);
      };
      try {
        const output = await this.#attempt(host, work, onProgress);
        await this.#noteSuccess(host, work.kernel);
        return { output, faults };
      } catch (error) {
        if (work.signal.aborted || !(error instanceof ProblemError)) throw error;
        const { code, detail } = error.problem;
        const hung = code === "kernel-timeout" && wasSilent(heardAtMs, work.timeoutMs);
        if (code === "device-lost" || hung) await this.#noteFailure(host, work.kernel, code);
        if (code !== "device-lost" || faults.length > 0) throw error;
        faults.push({ code, detail, action: "retried" });
      }
    }
  }

  /** Numbers of attempts by device, and by whether they ended well. */
  get attempts(): readonly { readonly deviceKey: string; readonly ok: boolean; readonly count: number }[] {
    return [...this.#attempts].flatMap(([deviceKey, { done, failed }]) => [
      { deviceKey, ok: true, count: done },
      { deviceKey, ok: false, count: failed },
    ]);
  }

  async #attempt<Output>(
    { device: { key } }: GuardedHost,
    work: GuardedWork<Output>,
    onProgress: (progress: JobProgress) => void,
  ): Promise<Output> {
    const tally = this.#attempts.get(key) ?? { done: 0, failed: 0 };
    this.#attempts.set(key, tally);
    const { kernel, signal, scope = null } = work;
    const attributes = { "millrace.kernel": kernel, "millrace.device": key };
    try {
      const output = await traced(scope, "kernel", { attributes }, () => work.run({ signal, onProgress }));
      tally.done++;
      return output;
    } catch (error) {
      tally.failed++;
      throw error;
    }
  }

  /** Remaining lockout of a kernel on a device, in milliseconds; null where it may run. */
  lockedOutForMs({ device, kernelDigests }: GuardedHost, kernel: string): number | null {
    return lockedOutForMs(this.#file.find(device.fingerprint, kernel), kernelDigests[kernel] ?? "", Date.now());
  }

  /** Description of the device for the edge, with the kernels that are locked out there now. */
  describe({ device, kernelDigests }: GuardedHost): Device {
    const nowMs = Date.now();
    const quarantined = this.#file
      .all(device.fingerprint)
      .flatMap(([kernel, record]): QuarantinedKernel[] => {
        const leftMs = lockedOutForMs(record, kernelDigests[kernel] ?? "", nowMs);
        if (leftMs === null) return [];
        const { code, failures } = record;
        return [{ kernel, code, failures, until: new Date(nowMs + leftMs).toISOString() }];
      })
      .slice(0, LIMITS.quarantinedKernels);
    return quarantined.length === 0 ? device : { ...device, quarantined };
  }

  #refuse(host: GuardedHost, kernel: string): void {
    const retryAfterMs = this.lockedOutForMs(host, kernel);
    if (retryAfterMs === null) return;
    const record = this.#file.find(host.device.fingerprint, kernel);
    throw new ProblemError(
      "kernel-quarantined",
      `'${kernel}' failed ${record?.failures} times in a row on ${host.device.key}, the last time with ${record?.code}`,
      { retryAfterMs },
    );
  }

  async #noteFailure(host: GuardedHost, kernel: string, code: ProblemError["problem"]["code"]): Promise<void> {
    const digest = host.kernelDigests[kernel] ?? "";
    const before = this.#file.find(host.device.fingerprint, kernel);
    await this.#keep(host, kernel, noteFailure(before, { digest, code, nowMs: Date.now() }));
  }

  async #noteSuccess(host: GuardedHost, kernel: string): Promise<void> {
    if (this.#file.find(host.device.fingerprint, kernel) !== undefined) await this.#keep(host, kernel, null);
  }

  /** Keeps a kernel's record, or forgets it, and logs it where the kernel was or is locked out. */
  async #keep({ device }: GuardedHost, kernel: string, record: FailureRecord | null): Promise<void> {
    const before = this.#file.find(device.fingerprint, kernel);
    const saved = this.#file.save(device.fingerprint, kernel, record, Date.now());
    if (((record ?? before)?.untilMs ?? null) !== null) this.#onChange();
    await saved;
  }
}

/** Whether a call that ran out of time hung. A call that never reported anything was never begun. */
function wasSilent(heardAtMs: number | null, timeoutMs: number): boolean {
  return heardAtMs !== null && performance.now() - heardAtMs >= Math.max(SILENT_MS, SILENT_SHARE * timeoutMs);
}
