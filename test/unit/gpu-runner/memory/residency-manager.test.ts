import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { seededUniform } from "../../../../kernels/seeded-uniform.ts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DiskStore } from "../../../../src/gpu-runner/memory/disk-store.ts";
import type { MemoryBudgets } from "../../../../src/gpu-runner/config.ts";
import type { ModelPaths } from "../../../../src/gpu-runner/devices/ort/model-paths.ts";
import { ResidencyManager } from "../../../../src/gpu-runner/memory/residency-manager.ts";
import { MemoryReport, type TierName } from "../../../../src/protocol/fleet/memory.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";
import { type Artifact, createCompressible, createRandom, createSource } from "./artifacts.ts";

const SIZE = 10_000;
const budgets: MemoryBudgets = {
  gpuBytes: 1e9,
  hostBytes: 10 * SIZE,
  diskBytes: 100 * SIZE,
  backgroundBytesPerSecond: 1e9,
};
const random = Array.from({ length: 64 }, (_, seed) => createRandom(seed + 1, SIZE));
const digests = random.map(({ digest }) => digest);

let folder = "";
const opened: ResidencyManager[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-residency-"));
});
afterEach(async () => {
  for (const manager of opened.splice(0)) await manager.stop();
  await rm(folder, { recursive: true, force: true });
});

async function openManager(
  artifacts: readonly Artifact[],
  changes: Partial<MemoryBudgets> = {},
  store = new DiskStore(folder),
) {
  const { asked, source, fileSource } = createSource(artifacts);
  const logger = pino({ level: "silent" });
  const manager = await ResidencyManager.open({
    budgets: { ...budgets, ...changes },
    store,
    source,
    fileSource,
    devices: [],
    logger,
  });
  opened.push(manager);
  const read = async (digest: string | undefined) => {
    const bytes = await manager.read(digest ?? "");
    await manager.idle();
    return bytes;
  };
  const tier = async (name: TierName) => {
    const report = MemoryReport.parse(await manager.report());
    const found = report.tiers.find((each) => each.tier === name);
    if (found === undefined) throw new Error(`there is no tier ${name}`);
    return found;
  };
  return { manager, asked, read, tier };
}

describe("a large model", () => {
  const files = random.slice(0, 2).map(({ digest }, index) => ({
    name: index === 0 ? "model.onnx" : "weights.bin",
    digest,
    sizeBytes: SIZE,
  }));
  const open = (manager: ResidencyManager, wanted = files) =>
    manager.read("sha256:list", wanted) as Promise<ModelPaths>;

  it("comes to the disk once, never to memory, and stays there over a restart", async () => {
    const first = await openManager(random);
    const paths = await open(first.manager);
    expect(await readFile(paths.own)).toEqual(Buffer.from(random[0]!.bytes));
    expect(await readFile(paths.data["weights.bin"]!)).toEqual(Buffer.from(random[1]!.bytes));
    expect(await open(first.manager)).toEqual(paths);
    expect(first.asked).toEqual(digests.slice(0, 2));
    expect(await first.tier("host")).toMatchObject({ items: 0, usedBytes: 0 });
    expect(await first.tier("disk")).toMatchObject({ items: 2, pinnedItems: 2, usedBytes: 2 * SIZE });
    const second = await openManager(random);
    expect(await open(second.manager)).toEqual(paths);
    expect(second.asked).toEqual([]);
  });

  it("is fetched anew where a file was damaged in between", async () => {
    const paths = await open((await openManager(random)).manager);
    await truncate(paths.own, SIZE - 1);
    const { manager, asked } = await openManager(random);
    expect(await open(manager)).toEqual(paths);
    expect(asked).toEqual([digests[0]]);
  });

  it("replaces what is not in use, and is refused where the budget has no room", async () => {
    const { manager, read, tier } = await openManager(random, { diskBytes: 3 * SIZE });
    for (const digest of digests.slice(2, 5)) await read(digest);
    await open(manager);
    expect(await tier("disk")).toMatchObject({ pinnedItems: 2, evictions: 2 });
    const more = [{ name: "model.onnx", digest: digests[9]!, sizeBytes: 2 * SIZE }];
    await expect(open(manager, more)).rejects.toMatchObject({ problem: { code: "out-of-memory" } });
  });
});

describe("what arrived of a large file", () => {
  const [file, other] = digests.slice(0, 2).map((digest) => ({ name: "model.onnx", digest, sizeBytes: SIZE }));
  const partials = async () => (await readdir(folder)).filter((name) => name.endsWith(".partial"));

  it("stays only while its model is in use", async () => {
    const store = new DiskStore(folder);
    const { manager } = await openManager(random, {}, store);
    for (const { digest } of [file!, other!]) await writeFile(store.partialPathOf(digest), "begun");
    await manager.keepOnly([], [file!.digest]);
    expect(await partials()).toEqual([`${file!.digest.replace("sha256:", "")}.partial`]);
    await manager.keepOnly([]);
    expect(await partials()).toEqual([]);
  });

  it("is removed where the edge no longer has it, or the disk does not take it", async () => {
    class FullStore extends DiskStore {
      override adopt = async () => null as unknown as number;
    }
    const store = new FullStore(folder);
    await writeFile(store.partialPathOf(other!.digest), "begun");
    const gone = new ProblemError("not-found", "It is gone.");
    const manager = await ResidencyManager.open({
      budgets,
      store,
      source: async () => new Uint8Array(),
      fileSource: async ({ digest }, path) => {
        await writeFile(path, "all");
        if (digest === other!.digest) throw gone;
      },
      devices: [],
      logger: pino({ level: "silent" }),
    });
    opened.push(manager);
    await expect(manager.read("sha256:list", [other!])).rejects.toThrow("gone");
    expect(await partials()).toEqual([]);
    await expect(manager.read("sha256:list", [file!])).rejects.toMatchObject({ problem: { code: "out-of-memory" } });
    expect(await partials()).toEqual([]);
  });
});

describe("an artifact", () => {
  it("comes from the edge once, then from memory, and after a restart from the disk", async () => {
    const first = await openManager(random);
    for (let use = 0; use < 3; use++) expect(await first.read(digests[0])).toEqual(random[0]?.bytes);
    expect(first.asked).toEqual([digests[0]]);
    expect(await first.tier("host")).toMatchObject({ hits: 2, misses: 1, items: 1, usedBytes: SIZE });
    expect(await first.tier("disk")).toMatchObject({ hits: 0, misses: 1, items: 1, usedBytes: SIZE });
    expect(await first.tier("edge")).toMatchObject({ hits: 1, capacityBytes: null });
    const second = await openManager(random);
    expect(await second.read(digests[0])).toEqual(random[0]?.bytes);
    expect(second.asked).toEqual([]);
    expect(await second.tier("disk")).toMatchObject({ hits: 1, misses: 0 });
    const { migrations } = await second.manager.report();
    expect(migrations).toMatchObject([{ from: "disk", to: "host", upToBytes: 65_536, count: 1, bytes: SIZE }]);
    expect(migrations[0]?.p50Ms).toBeGreaterThan(0);
  });

  it("is brought once for all who ask at the same time", async () => {
    const { manager, asked } = await openManager(random);
    await Promise.all([1, 2, 3].map(() => manager.read(digests[0] ?? "")));
    expect(asked).toHaveLength(1);
  });

  it("that the edge does not have fails, and may be asked for again", async () => {
    const { manager, asked, tier } = await openManager([]);
    for (let attempt = 0; attempt < 2; attempt++) await expect(manager.read("sha256:none")).rejects.toThrow("has no");
    expect(asked).toHaveLength(2);
    expect(await tier("edge")).toMatchObject({ hits: 0, failures: 2 });
  });

  it("takes on the disk what it takes compressed", async () => {
    const artifact = createCompressible(1, SIZE);
    const { read, tier } = await openManager([artifact]);
    await read(artifact.digest);
    expect((await tier("disk")).usedBytes).toBeLessThan(SIZE / 4);
    expect((await tier("host")).usedBytes).toBe(SIZE);
  });

  it("whose file is damaged is fetched and written again", async () => {
    await (await openManager(random)).read(digests[0]);
    const [name = ""] = await readdir(folder);
    await truncate(join(folder, name), SIZE - 1);
    const { read, asked, tier } = await openManager(random);
    expect(await read(digests[0])).toEqual(random[0]?.bytes);
    expect(asked).toEqual([digests[0]]);
    expect(await tier("disk")).toMatchObject({ failures: 1, misses: 1, hits: 0, items: 1 });
    const third = await openManager(random);
    await third.read(digests[0]);
    expect(third.asked).toEqual([]);
  });
});

describe("a budget", () => {
  it("is kept by memory and disk, whatever is asked for", async () => {
    const { read, tier } = await openManager(random, { hostBytes: 3.5 * SIZE, diskBytes: 8.5 * SIZE });
    for (let use = 0; use < 100; use++) {
      await read(digests[(use * use) % 23]);
      expect((await tier("host")).usedBytes).toBeLessThanOrEqual(3.5 * SIZE);
      expect((await tier("disk")).usedBytes).toBeLessThanOrEqual(8.5 * SIZE);
      expect(await readdir(folder)).toHaveLength((await tier("disk")).items);
    }
    expect((await tier("host")).evictions).toBeGreaterThan(0);
    expect((await tier("disk")).evictions).toBeGreaterThan(0);
  });

  it("that is smaller than before clears the disk, but not of what is in use", async () => {
    const before = await openManager(random);
    for (const digest of digests.slice(0, 8)) await before.read(digest);
    const kept = [digests[1], digests[3]].map(String);
    const { manager, read, tier, asked } = await openManager(random, { diskBytes: 3.5 * SIZE });
    expect((await tier("disk")).items).toBe(8);
    await manager.keepOnly(kept);
    expect(await tier("disk")).toMatchObject({ items: 3, pinnedItems: 2, pinnedBytes: 2 * SIZE });
    for (const digest of digests.slice(20, 40)) await read(digest);
    asked.length = 0;
    for (const digest of kept) await read(digest);
    expect(asked).toEqual([]);
    await manager.keepOnly([]);
    expect((await tier("disk")).pinnedItems).toBe(0);
  });

  it("that is too small for an item lets it pass through", async () => {
    const { read, tier, asked } = await openManager(random, { hostBytes: 100, diskBytes: 100 });
    for (let use = 0; use < 2; use++) expect(await read(digests[0])).toEqual(random[0]?.bytes);
    expect(asked).toHaveLength(2);
    expect(await tier("host")).toMatchObject({ items: 0, refusals: 2 });
    expect(await readdir(folder)).toEqual([]);
  });

  it("of bandwidth skips what would wait too long, and requests do not wait for it", async () => {
    const { manager } = await openManager(random.concat(more), { hostBytes: 200 * SIZE, backgroundBytesPerSecond: 1 });
    await Promise.all([...digests, ...more.map(({ digest }) => digest)].map((digest) => manager.read(digest)));
    // The first one is larger than the whole budget: it goes at once, and the others wait until it is paid off.
    await vi.waitFor(async () => expect((await manager.report()).background.done).toBe(1), 10_000);
    const { background } = await manager.report();
    expect(background).toMatchObject({ bytesPerSecond: 1, done: 1 });
    expect(background.waiting).toBeGreaterThan(0);
    expect(background.waiting + background.skipped).toBe(71);
    expect(background.skipped).toBeGreaterThan(0);
  });
});

const more = Array.from({ length: 8 }, (_, seed) => createRandom(seed + 1_000, SIZE));

describe("a disk that is full", () => {
  const full = Object.assign(new Error("full"), { code: "ENOSPC" });

  it("gives way by what is worth least, and takes the new file then", async () => {
    let isFull = false;
    const write: typeof writeFile = async (...file) => {
      if (isFull) {
        isFull = false;
        throw full;
      }
      await writeFile(...file);
    };
    const { read, tier } = await openManager(random, {}, new DiskStore(folder, write));
    for (const digest of digests.slice(0, 4)) await read(digest);
    isFull = true;
    await read(digests[4]);
    expect(await tier("disk")).toMatchObject({ items: 4, evictions: 1, failures: 0 });
    expect(await readdir(folder)).toHaveLength(4);
  });

  it("or cannot be used at all blocks no artifact", async () => {
    const file = join(folder, "file");
    await writeFile(file, "not a folder");
    const { read, asked } = await openManager(random, {}, new DiskStore(file));
    for (let use = 0; use < 2; use++) expect(await read(digests[0])).toEqual(random[0]?.bytes);
    expect(asked).toHaveLength(1);
  });

  it("blocks no artifact", async () => {
    const store = new DiskStore(folder, async () => {
      throw full;
    });
    const { read, tier, asked } = await openManager(random, {}, store);
    for (let use = 0; use < 2; use++) expect(await read(digests[0])).toEqual(random[0]?.bytes);
    expect(asked).toHaveLength(1);
    expect(await tier("disk")).toMatchObject({ items: 0, usedBytes: 0, failures: 1 });
  });

  it("is tried again when memory lets go of what it has not", async () => {
    let isFull = true;
    const store = new DiskStore(folder, async (...file) => {
      if (isFull) throw full;
      await writeFile(...file);
    });
    const { read, asked } = await openManager(random, { hostBytes: 1.5 * SIZE }, store);
    await read(digests[0]);
    isFull = false;
    await read(digests[1]);
    asked.length = 0;
    await read(digests[0]);
    expect(asked).toEqual([]);
  });
});

describe("prefetching", () => {
  async function walk(order: readonly number[]) {
    const before = await openManager(random);
    for (const digest of digests) await before.read(digest);
    const { manager, read, tier } = await openManager(random, { hostBytes: 12.5 * SIZE });
    await manager.keepOnly(digests);
    for (const position of order) expect(await read(digests[position])).toEqual(random[position]?.bytes);
    return tier("host");
  }

  it("brings a sequence into memory ahead of its use", async () => {
    const { hits, prefetch } = await walk(Array.from({ length: 64 }, (_, index) => index));
    expect(hits).toBeGreaterThan(48);
    expect(prefetch).toMatchObject({ pattern: "sequential", wrong: 0, accuracy: 1 });
  });

  it("brings a period into memory, which is larger than it", async () => {
    const period = Array.from({ length: 24 }, (_, index) => (index * 29) % 61);
    const { hits, prefetch } = await walk([...period, ...period, ...period, ...period]);
    expect(prefetch?.pattern).toBe("temporal");
    expect(hits).toBeGreaterThan(48);
  });

  it("is off for random accesses", async () => {
    const order = Array.from(seededUniform(3, 0, 200), (value) => Math.floor((value + 1) * 32));
    const { prefetch } = await walk(order);
    expect(prefetch).toMatchObject({ issued: 0, pattern: null, accuracy: null });
  });

  it("does not keep a runner from stopping, though it downloads", async () => {
    const hanging = Promise.withResolvers<void>();
    const manager = await ResidencyManager.open({
      budgets,
      store: new DiskStore(folder),
      source: async (digest, signal) => {
        const position = digests.indexOf(digest);
        if (position < 16) return random[position]?.bytes ?? new Uint8Array();
        hanging.resolve();
        return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)));
      },
      fileSource: async () => undefined,
      devices: [],
      logger: pino({ level: "silent" }),
    });
    await manager.keepOnly(digests);
    for (const digest of digests.slice(0, 16)) {
      await manager.read(digest);
      await Promise.race([manager.idle(), hanging.promise]);
    }
    await hanging.promise;
    await manager.stop();
    expect((await manager.report()).background.waiting).toBe(0);
  });

  it("of an unavailable artifact is counted as wrong and does no harm", async () => {
    const half = random.slice(0, 32);
    const { manager, read, tier, asked } = await openManager(half);
    await manager.keepOnly(digests);
    for (const digest of digests.slice(0, 32)) await read(digest);
    const { prefetch } = await tier("host");
    expect(asked.length).toBeGreaterThan(32);
    expect(prefetch?.wrong).toBe(asked.length - 32);
    expect(prefetch?.depth).toBeLessThan(4);
  });
});
