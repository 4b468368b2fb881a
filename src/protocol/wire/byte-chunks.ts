/** A chunk that is shorter is copied into a buffer with its neighbours: each array takes some 200 bytes more. */
const SHORT_BYTES = 16_384;
/** Bytes that are joined between two pauses. */
const JOINED_BYTES = 1_048_576;
const NOTHING = new Uint8Array();

/** Bytes that come in chunks of any length, however many. */
export class ByteChunks {
  readonly #chunks: Uint8Array[] = [];
  /** The last short chunks, one behind the other. */
  #short: Uint8Array = NOTHING;
  #shortLength = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(chunk: Uint8Array): void {
    this.#length += chunk.byteLength;
    const isShort = chunk.byteLength < SHORT_BYTES;
    if (!isShort || this.#shortLength + chunk.byteLength > SHORT_BYTES) this.#endShort();
    if (!isShort) {
      this.#chunks.push(chunk);
      return;
    }
    this.#makeRoom(this.#shortLength + chunk.byteLength);
    this.#short.set(chunk, this.#shortLength);
    this.#shortLength += chunk.byteLength;
  }

  /** All of them, which are taken away meanwhile, so that they are there twice for a moment only. */
  async join(pause: () => Promise<void>): Promise<Uint8Array<ArrayBuffer>> {
    this.#endShort();
    const bytes = new Uint8Array(this.#length);
    let [at, pausedAt] = [0, 0];
    for (const [index, chunk] of this.#chunks.entries()) {
      this.#chunks[index] = NOTHING;
      bytes.set(chunk, at);
      at += chunk.byteLength;
      if (at < pausedAt + JOINED_BYTES) continue;
      pausedAt = at;
      await pause();
    }
    return bytes;
  }

  #endShort(): void {
    if (this.#shortLength > 0) this.#chunks.push(this.#short.slice(0, this.#shortLength));
    this.#shortLength = 0;
  }

  #makeRoom(length: number): void {
    if (this.#short.byteLength >= length) return;
    const grown = new Uint8Array(Math.min(2 * length, SHORT_BYTES));
    grown.set(this.#short);
    this.#short = grown;
  }
}
