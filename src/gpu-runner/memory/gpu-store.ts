import { ProblemError } from "../../protocol/problem.ts";
import { sizeClassOf } from "../gpu/buffer-pool.ts";
import type { DeviceHost } from "../process/device-host.ts";
import type { TierStore } from "./tier-store.ts";

/** Long enough for 32 MiB on a slow bus; a device that takes longer is ended as one that hangs. */
const TRANSFER_LIMIT_MS = 30_000;

/** Bytes in buffers of a device, in its process: they end with it. */
export class GpuStore implements TierStore {
  readonly #host: Pick<DeviceHost, "work" | "restarts" | "pid">;

  constructor(host: Pick<DeviceHost, "work" | "restarts" | "pid">) {
    this.#host = host;
  }

  /** Between two lives of the process it is between their numbers. */
  get life(): number {
    return this.#host.restarts + (this.#host.pid === null ? 0.5 : 0);
  }

  sizeOf(sizeBytes: number): number {
    return sizeClassOf(sizeBytes);
  }

  async read(digest: string): Promise<Uint8Array | null> {
    return this.#unless("not-found", this.#host.work("readResident", { key: digest }, TRANSFER_LIMIT_MS));
  }

  async write(digest: string, bytes: Uint8Array): Promise<number | null> {
    const put = this.#host.work("putResident", { key: digest, bytes }, TRANSFER_LIMIT_MS);
    return this.#unless(
      "out-of-memory",
      put.then(() => sizeClassOf(bytes.byteLength)),
    );
  }

  async drop(digest: string): Promise<void> {
    await this.#host.work("dropResident", { key: digest }, TRANSFER_LIMIT_MS);
  }

  async #unless<Value>(code: string, work: Promise<Value>): Promise<Value | null> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof ProblemError && error.problem.code === code) return null;
      throw error;
    }
  }
}
