import type { Admission, TierEntry } from "../../src/gpu-runner/memory/tier-index.ts";

/** A cache's report of an access: a hit, or the result of admitting the item. */
export type Access = "hit" | Admission;

/** Record of a cache's admissions and evictions: a reported hit counts only if the record agrees. */
export class CacheBooks {
  readonly #sizes = new Map<string, number>();
  #usedBytes = 0;

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Throws where the cache reports the impossible. */
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
