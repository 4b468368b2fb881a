import type { LinkChannel } from "./link-channel.ts";

const ECHO_TIMEOUT_MS = 5_000;

/** Measures the link: what goes to the edge's object and comes straight back. */
export class LinkProbe {
  readonly #channel: LinkChannel;
  readonly #waiting = new Map<number, () => void>();
  #nextId = 0;

  constructor(channel: LinkChannel) {
    this.#channel = channel;
  }

  /** Round trips in milliseconds on the monotonic clock, one after the other. Throws when one is lost. */
  async measureMs(count: number, signal: AbortSignal): Promise<number[]> {
    const samples: number[] = [];
    for (let i = 0; i < count; i++) {
      signal.throwIfAborted();
      const startMs = performance.now();
      await this.#echo();
      samples.push(performance.now() - startMs);
    }
    return samples;
  }

  /** Takes the edge's `echoReply`. */
  answered(id: number): void {
    this.#waiting.get(id)?.();
    this.#waiting.delete(id);
  }

  #echo(): Promise<void> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error("an echo was lost"));
      }, ECHO_TIMEOUT_MS);
      this.#waiting.set(id, () => {
        clearTimeout(timer);
        resolve();
      });
      this.#channel.send({ type: "echo", id });
    });
  }
}
