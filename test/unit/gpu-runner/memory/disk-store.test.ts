import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DiskStore } from "../../../../src/gpu-runner/memory/disk-store.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { artifactOf, createCompressible, createRandom } from "./artifacts.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-disk-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const hexOf = (digest: string) => digest.replace("sha256:", "");

async function openStore() {
  const store = new DiskStore(folder);
  return { store, found: await store.scan() };
}

describe("a file", () => {
  it("is compressed where that saves something, and comes back as it was", async () => {
    const { store } = await openStore();
    const artifact = createCompressible(1, 50_000);
    const storedBytes = await store.write(artifact.digest, artifact.bytes);
    expect(storedBytes).toBeLessThan(5_000);
    expect(await readdir(folder)).toEqual([`${hexOf(artifact.digest)}.zst`]);
    expect((await stat(join(folder, `${hexOf(artifact.digest)}.zst`))).size).toBe(storedBytes);
    expect(Buffer.compare((await store.read(artifact.digest)) ?? new Uint8Array(), artifact.bytes)).toBe(0);
  });

  it("is kept as it is where compressing it would save next to nothing", async () => {
    const { store } = await openStore();
    const artifact = createRandom(1, 50_000);
    expect(await store.write(artifact.digest, artifact.bytes)).toBe(50_000);
    expect(await readdir(folder)).toEqual([hexOf(artifact.digest)]);
    expect(Buffer.compare((await store.read(artifact.digest)) ?? new Uint8Array(), artifact.bytes)).toBe(0);
  });

  it("of no bytes is one, too", async () => {
    const { store } = await openStore();
    const empty = artifactOf(new Uint8Array());
    await store.write(empty.digest, empty.bytes);
    expect(await store.read(empty.digest)).toHaveLength(0);
  });

  it("of an earlier release, plain, is found and read", async () => {
    const artifact = createCompressible(2, 10_000);
    await writeFile(join(folder, hexOf(artifact.digest)), artifact.bytes);
    const { store, found } = await openStore();
    expect(found).toMatchObject([{ key: artifact.digest, sizeBytes: 10_000 }]);
    expect(await store.read(artifact.digest)).toHaveLength(10_000);
  });

  it("that is dropped is gone, and dropping what is not there is no error", async () => {
    const { store } = await openStore();
    const artifact = createRandom(3, 100);
    await store.write(artifact.digest, artifact.bytes);
    await store.drop(artifact.digest);
    await store.drop(artifact.digest);
    expect(await readdir(folder)).toEqual([]);
    expect(await store.read(artifact.digest)).toBeNull();
  });
});

describe("a damaged file", () => {
  const damages: Record<string, (content: Buffer) => Uint8Array> = {
    "cut off": (content) => content.subarray(0, content.length - 7),
    empty: () => new Uint8Array(),
    "with a bit turned": (content) => content.map((byte, index) => (index === content.length >> 1 ? byte ^ 4 : byte)),
    "that is another's": () => Buffer.from("something else"),
  };
  it.each(Object.entries(damages))("%s is no answer, and is removed", async (_, damage) => {
    const { store } = await openStore();
    for (const artifact of [createCompressible(4, 20_000), createRandom(4, 20_000)]) {
      await store.write(artifact.digest, artifact.bytes);
      const [name = ""] = await readdir(folder);
      await writeFile(join(folder, name), damage(await readFile(join(folder, name))));
      expect(await store.read(artifact.digest)).toBeNull();
      expect(await readdir(folder)).toEqual([]);
    }
  });

  it("that would unpack to more than any artifact has is not unpacked", async () => {
    const { store } = await openStore();
    const bomb = artifactOf(new Uint8Array(LIMITS.artifactBytes + 1));
    expect(await store.write(bomb.digest, bomb.bytes)).toBeLessThan(30_000);
    expect(await store.read(bomb.digest)).toBeNull();
  });
});

describe("a folder", () => {
  it("is made, and what an earlier run did not finish or left twice is cleared away", async () => {
    const nested = join(folder, "artifacts");
    await new DiskStore(nested).scan();
    expect(await readdir(nested)).toEqual([]);
    const artifact = createCompressible(5, 5_000);
    const { store } = await openStore();
    await store.write(artifact.digest, artifact.bytes);
    const hex = hexOf(artifact.digest);
    await writeFile(join(folder, hex), artifact.bytes);
    await writeFile(join(folder, `${hex}.zst.123.k3j`), "half");
    await writeFile(join(folder, `${hex}.123.k3j`), "half");
    await writeFile(join(folder, "notes.txt"), "not ours");
    const again = await openStore();
    expect(again.found.map(({ key }) => key)).toEqual([artifact.digest]);
    expect((await readdir(folder)).filter((name) => name.startsWith(hex))).toHaveLength(1);
    expect(await readdir(folder)).toContain("notes.txt");
    expect(await again.store.read(artifact.digest)).toHaveLength(5_000);
  });

  it("lists its files from the oldest to the newest", async () => {
    const { store } = await openStore();
    const artifacts = [1, 2, 3].map((seed) => createRandom(seed, 100));
    for (const [index, { digest, bytes }] of artifacts.entries()) {
      await store.write(digest, bytes);
      await utimes(join(folder, hexOf(digest)), 1_000, 3_000 - index * 1_000);
    }
    const { found } = await openStore();
    expect(found.map(({ key }) => key)).toEqual(artifacts.map(({ digest }) => digest).toReversed());
  });
});

describe("a disk", () => {
  const failing = (code: string) => async () => {
    throw Object.assign(new Error(code), { code });
  };

  it("that is full is distinguished from one that fails, and nothing half-written stays", async () => {
    const artifact = createRandom(6, 100);
    for (const code of ["ENOSPC", "EDQUOT"]) {
      expect(await new DiskStore(folder, failing(code)).write(artifact.digest, artifact.bytes)).toBeNull();
    }
    await expect(new DiskStore(folder, failing("EIO")).write(artifact.digest, artifact.bytes)).rejects.toThrow("EIO");
    expect(await readdir(folder)).toEqual([]);
  });
});

it("keeps a download that goes on for a day, and removes older ones and what a crash left", async () => {
  const [young, old] = [createRandom(1, 10), createRandom(2, 10)];
  const { store } = await openStore();
  await writeFile(store.partialPathOf(young.digest), young.bytes);
  await writeFile(store.partialPathOf(old.digest), old.bytes);
  await utimes(store.partialPathOf(old.digest), 1, 1);
  await mkdir(join(folder, "linked-abc"));
  const { store: next, found } = await openStore();
  expect([found, await readdir(folder)]).toEqual([[], [`${hexOf(young.digest)}.partial`]]);
  expect(await next.adopt(young.digest)).toBe(10);
  expect(await next.pathOf(young.digest)).toBe(join(folder, hexOf(young.digest)));
  expect(await next.read(young.digest)).toEqual(young.bytes);
});
