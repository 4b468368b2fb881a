import type { LiveRequest } from "../../protocol/link.ts";

/** Repeats a report at an interval as long as it is requested, one at a time. */
export class LiveLoop {
  readonly #report: () => Promise<void>;
  #everyMs = 0;
  #untilMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isTelling = false;

  constructor(report: () => Promise<void>) {
    this.#report = report;
  }

  get isOn(): boolean {
    return this.#timer !== undefined;
  }

  /** Continues for this long from now. It is a lease, since a lost edge sends nothing. */
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
    await this.#report();
    this.#isTelling = false;
  }
}
