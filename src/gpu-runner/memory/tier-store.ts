import { ProblemError } from "../../protocol/wire/problem.ts";
import type { DeviceHost } from "../device-host/device-host.ts";
import { sizeClassOf } from "../devices/gpu/buffer-pool.ts";

/** Storage of a tier's bytes. The tier decides which may stay (tier.ts). */
export interface TierStore {
  /** Another number means that all contents are lost. */
  readonly life: number;
  /** Largest size here of this many bytes. */
  sizeOf(sizeBytes: number): number;
  /** Bytes that were written; null where they are lost or damaged. */
  read(digest: string): Promise<Uint8Array | null>;
  /** Returns their size here, or null where there is no room. */
  write(digest: string, bytes: Uint8Array): Promise<number | null>;
  /** Drops bytes; absent ones are no error. */
  drop(digest: string): Promise<void>;
}

/** Long enough for 32 MiB on a slow bus; a slower device is ended as hanging. */
const TRANSFER_LIMIT_MS = 30_000;

/** Bytes in buffers of a device, in its process: they end with it. */
export class GpuStore implements TierStore {
  readonly #host: Pick<DeviceHost, "work" | "restarts" | "pid">;

  constructor(host: Pick<DeviceHost, "work" | "restarts" | "pid">) {
    this.#host = host;
  }

  /** Fractional between two lives of the process. */
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

/** Bytes in this process's memory; readers must not write to them. */
export class HostStore implements TierStore {
  readonly life: number = 0;
  readonly #bytes = new Map<string, Uint8Array>();

  sizeOf(sizeBytes: number): number {
    return sizeBytes;
  }

  async read(digest: string): Promise<Uint8Array | null> {
    return this.#bytes.get(digest) ?? null;
  }

  async write(digest: string, bytes: Uint8Array): Promise<number> {
    this.#bytes.set(digest, bytes);
    return bytes.byteLength;
  }

  async drop(digest: string): Promise<void> {
    this.#bytes.delete(digest);
  }
}
