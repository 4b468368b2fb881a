import type { TierStore } from "./tier-store.ts";

/** Bytes in this process's memory. Whoever reads them must not write to them. */
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
