import type { Admission, TierEntry } from "../../src/gpu-runner/memory/tier-index.ts";

/** What a cache says of an access: the item was there, or what came of taking it in. */
export type Access = "hit" | Admission;

/** Books of what a cache took in and sent away: a hit is believed only where they say so. */
export class CacheBooks {
  readonly #sizes = new Map<string, number>();
  #usedBytes = 0;

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Throws where the cache says what cannot be. */
  enter({ key, sizeBytes }: TierEntry, access: Access): void {
    const isThere = this.#sizes.has(key);
    if (isThere !== (access === "hit")) throw new Error(`it ${isThere ? "lost" : "never had"} item ${key}`);
    if (access === "hit" || !access.admitted) return;
    for (const victim of access.victims) {
      this.#usedBytes -= this.#sizes.get(victim.key) ?? 0;
      if (!this.#sizes.delete(victim.key)) throw new Error(`it sent away item ${victim.key}, which it never had`);
    }
    this.#sizes.set(key, sizeBytes);
    this.#usedBytes += sizeBytes;
  }
}
