import { mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TuningCache, type TuningSource } from "../../../../src/gpu-runner/memory/tuning-cache.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { tuningIdOf, type TuningRecord } from "../../../../src/protocol/jobs/tuning.ts";
import { capabilities, tuningResult } from "../../../edge/stack/samples.ts";

const nobody: TuningSource = async () => null;
const fingerprints = capabilities.devices.map(({ fingerprint }) => fingerprint);
const { tuning, trials } = tuningResult();
const record: TuningRecord = { tuning, trials };
const id = await tuningIdOf(tuning);

let dataDir: string;
let warnings: { file?: string; reason?: string }[];
const logger = { warn: (fields: object) => void warnings.push(fields) };
const open = (source = nobody, own = fingerprints) =>
  TuningCache.open({ dataDir, fingerprints: own, source, logger: logger as never });

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "millrace-tunings-"));
  warnings = [];
});
afterEach(() => rm(dataDir, { recursive: true }));

describe("tunings on disk", () => {
  it("outlive the runner, with every trial", async () => {
    const cache = await open();
    expect(await cache.find(id)).toBeNull();
    await cache.save(id, record);
    const later = await open();
    expect(await later.find(id)).toEqual(record);
    expect(await later.find(`tun_${"0".repeat(26)}`)).toBeNull();
    expect(warnings).toEqual([]);
  });

  it("are not asked of the edge again", async () => {
    let asked = 0;
    const source = async () => (asked++, record);
    const cache = await open(source);
    for (let i = 0; i < 3; i++) expect(await cache.find(id)).toEqual(record);
    expect(await (await open(source)).find(id)).toEqual(record);
    expect(asked).toBe(1);
  });

  it("are ignored where they are damaged, foreign or renamed, and the log says so", async () => {
    await (await open()).save(id, record);
    const path = (name: string) => join(dataDir, "tunings", name);
    const text = await readFile(path(`${id}.json`), "utf8");
    const reasons = async () => {
      warnings = [];
      const cache = await open();
      expect(await cache.find(id)).toBeNull();
      return warnings.map(({ reason }) => reason);
    };
    await writeFile(path(`${id}.json`), text.slice(0, 100));
    expect(await reasons()).toEqual([expect.stringMatching(/^it cannot be read: /)]);
    await writeFile(path(`${id}.json`), JSON.stringify({ tuning: { kernel: "triad" } }));
    expect(await reasons()).toEqual([expect.stringMatching(/^it cannot be read: /)]);
    await writeFile(path(`${id}.json`), text.replace('"bucket":{"n":64}', '"bucket":{"n":128}'));
    expect(await reasons()).toEqual(["its content does not match its name"]);
    await writeFile(path(`${id}.json`), text.replaceAll('"driver":"1"', '"driver":"2"'));
    expect(await reasons()).toEqual(["it was found on another device"]);
    await writeFile(path(`${id}.json`), text);
    await rename(path(`${id}.json`), path("notes.txt"));
    expect(await reasons()).toEqual([]);
    // Ignored files stay unchanged.
    expect(await readdir(join(dataDir, "tunings"))).toEqual(["notes.txt"]);
  });

  it("are bounded: the oldest goes", async () => {
    const cache = await open();
    const ids = await Promise.all(
      Array.from({ length: LIMITS.storedTunings + 1 }, (_, n) => tuningIdOf({ ...tuning, bucket: { n } })),
    );
    for (const [n, key] of ids.entries()) await cache.save(key, { tuning: { ...tuning, bucket: { n } }, trials: [] });
    expect(await readdir(join(dataDir, "tunings"))).toHaveLength(LIMITS.storedTunings);
    expect(await cache.find(ids[0] ?? "")).toBeNull();
    expect(await cache.find(ids.at(-1) ?? "")).not.toBeNull();
  });
});

describe("a disk that is full", () => {
  it("costs no search its result, nor the edge's answer, but only what a restart forgets", async () => {
    const cache = await open(async () => record);
    await rm(join(dataDir, "tunings"), { recursive: true });
    expect(await cache.find(id)).toEqual(record);
    await cache.save(id, record);
    expect(await cache.find(id)).toEqual(record);
    expect(warnings).toHaveLength(2);
  });
});

describe("a runner beside another", () => {
  it("starts tuned with what the other found", async () => {
    const known = new Map([[id, record]]);
    const cache = await open(async (wanted) => known.get(wanted) ?? null);
    expect(await cache.find(id)).toEqual(record);
  });

  it("goes on untuned where the edge cannot be asked", async () => {
    const cache = await open(() => Promise.reject(new Error("no route")));
    expect(await cache.find(id)).toBeNull();
    expect(warnings).toHaveLength(1);
  });
});
