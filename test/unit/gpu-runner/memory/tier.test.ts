import { describe, expect, it } from "vitest";
import { HostStore } from "../../../../src/gpu-runner/memory/tier-store.ts";
import { Tier, type TierOptions } from "../../../../src/gpu-runner/memory/tier.ts";

const SIZE = 100;
const bytes = new Uint8Array(SIZE);

/** A store that loses everything at the test's word, and whose writes end at its word. */
class FragileStore extends HostStore {
  override life = 0;
  readonly #gates = new Map<string, Promise<void>>();

  /** Blocks the next write of a key; returns its release. */
  holdUp(key: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gates.set(key, promise);
    return resolve;
  }

  override async write(key: string, content: Uint8Array): Promise<number> {
    await this.#gates.get(key);
    return super.write(key, content);
  }
}

function openTier(changes: Partial<TierOptions> = {}) {
  const store = new FragileStore();
  const errors: unknown[] = [];
  const tier = new Tier({
    name: "gpu",
    deviceKey: "gpu0",
    capacityBytes: 2 * SIZE,
    store,
    prefetcher: null,
    isExpected: () => false,
    onLeaving: async () => undefined,
    onError: (error) => errors.push(error),
    ...changes,
  });
  return { tier, store, errors };
}

describe("a tier whose memory is lost during a write", () => {
  it("keeps what it wrote for the one who holds it", async () => {
    const { tier, store } = openTier();
    const goOn = store.holdUp("a");
    const writing = tier.writeHeld("a", bytes, 1);
    await Promise.resolve();
    store.life++;
    goOn();
    const letGo = await writing;
    expect(letGo).not.toBeNull();
    await tier.trim(0);
    expect(tier.has("a")).toBe(true);
    letGo?.();
    await tier.trim(0);
    expect(tier.has("a")).toBe(false);
  });

  it("counts what a second write laid down, though the first one noticed the loss", async () => {
    const { tier, store } = openTier();
    const goOn = [store.holdUp("a"), store.holdUp("b")];
    const writing = [tier.write("a", bytes, 1), tier.writeHeld("b", bytes, 1)] as const;
    await Promise.resolve();
    store.life++;
    goOn[0]?.();
    expect(await writing[0]).toBe(true);
    goOn[1]?.();
    expect(await writing[1]).not.toBeNull();
    expect(tier.report()).toMatchObject({ items: 2, usedBytes: 2 * SIZE });
    await tier.trim(0);
    expect([tier.has("a"), tier.has("b")]).toEqual([false, true]);
  });
});

it("drops what leaves a tier even where its way down fails", async () => {
  const failure = new Error("the tier below is gone");
  const { tier, store, errors } = openTier({ onLeaving: () => Promise.reject(failure) });
  await tier.write("a", bytes, 1);
  await tier.trim(0);
  expect(errors).toEqual([failure]);
  expect(await store.read("a")).toBeNull();
});
