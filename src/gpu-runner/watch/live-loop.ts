import type { LiveRequest } from "../../protocol/link.ts";

/** Tells something at an interval for as long as somebody asks for it, one telling at a time. */
export class LiveLoop {
  readonly #tell: () => Promise<void>;
  #everyMs = 0;
  #untilMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isTelling = false;

  constructor(tell: () => Promise<void>) {
    this.#tell = tell;
  }

  get isOn(): boolean {
    return this.#timer !== undefined;
  }

  /** Goes on for so long from now; a lease, since an edge that is gone says nothing. */
  keep({ everyMs, forMs }: Pick<LiveRequest, "everyMs" | "forMs">): void {
    if (forMs === 0 || everyMs !== this.#everyMs) this.stop();
    if (forMs === 0) return;
    this.#everyMs = everyMs;
    this.#untilMs = performance.now() + forMs;
    this.#timer ??= setInterval(() => void this.#tick(), everyMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #tick(): Promise<void> {
    if (performance.now() >= this.#untilMs) return this.stop();
    if (this.#isTelling) return;
    this.#isTelling = true;
    await this.#tell();
    this.#isTelling = false;
  }
}
