import { PLAIN } from "../../../../src/protocol/models/network-layout.ts";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LayoutStore } from "../../../../src/gpu-runner/memory/layout-store.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { capabilities } from "../../../edge/stack/samples.ts";

const { fingerprint } = capabilities.devices[0]!;
const other = { ...fingerprint, driver: "another" };
const layout = { ...PLAIN, lanes: 4, spreadFrom: Number.MAX_SAFE_INTEGER, tiling: "in-registers" } as const;
const layouts = { "any rows": layout };

let dataDir: string;
let warnings: number;
const open = () => LayoutStore.open(dataDir, { warn: () => void warnings++ });

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "millrace-layouts-"));
  warnings = 0;
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

describe("a network's layout", () => {
  it("outlives the runner, for its file and device alone", async () => {
    const store = await open();
    expect(store.find("sha256:1", fingerprint)).toEqual({});
    await store.save("sha256:1", fingerprint, layouts);
    const later = await open();
    expect(later.find("sha256:1", fingerprint)).toEqual(layouts);
    expect(later.find("sha256:2", fingerprint)).toEqual({});
    expect(later.find("sha256:1", other)).toEqual({});
  });

  it("is measured again where the file is damaged", async () => {
    await (await open()).save("sha256:1", fingerprint, layouts);
    const path = join(dataDir, "layouts.json");
    const text = await readFile(path, "utf8");
    for (const damaged of [
      text.slice(0, 40),
      text.replace("in-registers", "by-magic"),
      text.replace('version":5', 'version":0'),
      "[]",
    ]) {
      await writeFile(path, damaged);
      expect((await open()).find("sha256:1", fingerprint)).toEqual({});
    }
  });

  it("is kept for each of its sizes, the latest where there are too many", async () => {
    const store = await open();
    await store.save("sha256:1", fingerprint, { short: layout });
    await store.save("sha256:1", fingerprint, { long: { ...layout, tiling: "by-size" } });
    await store.save("sha256:1", fingerprint, { short: { ...layout, lanes: 64 } });
    const both = { short: { ...layout, lanes: 64 }, long: { ...layout, tiling: "by-size" } };
    expect((await open()).find("sha256:1", fingerprint)).toEqual(both);
    for (let size = 1; size < LIMITS.layoutSizes; size++)
      await store.save("sha256:1", fingerprint, { [`x=${size}`]: layout });
    const kept = Object.keys((await open()).find("sha256:1", fingerprint));
    expect(kept).toHaveLength(LIMITS.layoutSizes);
    expect(kept[0]).toBe("short");
  });

  it("that is removed stays so", async () => {
    const store = await open();
    await store.save("sha256:1", fingerprint, layouts);
    await store.remove("sha256:1", fingerprint);
    expect(store.find("sha256:1", fingerprint)).toEqual({});
    expect((await open()).find("sha256:1", fingerprint)).toEqual({});
  });

  it("is dropped, the oldest first, where there are too many", async () => {
    const store = await open();
    for (let at = 0; at <= LIMITS.storedLayouts; at++) await store.save(`sha256:${at}`, fingerprint, layouts);
    expect(store.find("sha256:0", fingerprint)).toEqual({});
    expect(store.find("sha256:1", fingerprint)).toEqual(layouts);
    expect(store.find(`sha256:${LIMITS.storedLayouts}`, fingerprint)).toEqual(layouts);
  });

  it("stays known in this process where the disk refuses it", async () => {
    const store = await open();
    await rm(dataDir, { recursive: true });
    await store.save("sha256:1", fingerprint, layouts);
    expect(store.find("sha256:1", fingerprint)).toEqual(layouts);
    expect(warnings).toBe(1);
  });
});
