import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  currentSnapshot,
  findVersion,
  forgetSnapshot,
  freshSnapshot,
  noteChange,
} from "../../../src/edge/inference/snapshot.ts";
import { openProject } from "../../../src/edge/store/database.ts";
import { readServingChange } from "../../../src/edge/store/fleet/live-placement-store.ts";
import { addModelVersion } from "../../../src/edge/store/models/model-store.ts";
import { mainEnv } from "../stack/edge-client.ts";
import { stopClock } from "../stack/stopped-clock.ts";

const call = { env: mainEnv, waitUntil: () => {} };
const tensor = { name: "x", dtype: "float32" as const, shape: [-1, 1] };

function addModel(name: string, digit: string) {
  const file = { digest: digit.repeat(64), sizeBytes: 1, inputs: [tensor], outputs: [tensor], edgeParameters: null };
  return addModelVersion(openProject(mainEnv), { name, ...file });
}

beforeEach(forgetSnapshot);
afterEach(() => vi.restoreAllMocks());

it("a snapshot whose reading began before a change does not answer for the project", async () => {
  const early = currentSnapshot(call);
  noteChange(mainEnv.project);
  await early;
  await addModel("changed", "0");
  expect(findVersion(await currentSnapshot(call), "changed")?.version).toBe(1);
});

/** Time from which a snapshot has aged. */
const AGED_MS = 1_100;

it("is read again only after a change of the database", async () => {
  await addModel("counted", "1");
  const works: Promise<unknown>[] = [];
  const later = async () => {
    await scheduler.wait(AGED_MS);
    await currentSnapshot({ ...call, waitUntil: (work: Promise<unknown>) => void works.push(work) });
    await Promise.all(works);
    return currentSnapshot(call);
  };
  const first = await currentSnapshot(call);
  const same = await later();
  expect(same.readAtMs).toBeGreaterThan(first.readAtMs);
  expect(same.versions).toBe(first.versions);
  await addModel("counted", "2");
  const changed = await later();
  expect(findVersion(changed, "counted")?.version).toBe(2);
});

it("knows a change of what admission reads, and not a runner's signs of life", async () => {
  const mark = () => readServingChange(openProject(mainEnv));
  const run = (sql: string) => mainEnv.DB.prepare(sql).run();
  const marks = [await mark()];
  const changes = async (sql: string) => {
    await run(sql);
    marks.push(await mark());
    expect(new Set(marks).size, sql).toBe(marks.length);
  };
  await changes(`insert into runners (id, project, name, credential_hash, labels, created_at_ms)
    values ('run_marked', 'main', 'marked', 'hash-marked', '{}', 0)`);
  await run("update runners set last_seen_at_ms = 5 where id = 'run_marked'");
  expect(await mark()).toBe(marks.at(-1));
  for (const change of ["online = 1", "draining = 1", "quarantine = null", "labels = '{}'", "capabilities = null"])
    await changes(`update runners set ${change} where id = 'run_marked'`);
  await changes("delete from runners where id = 'run_marked'");
});

it("has triggers on all tables that it is read from", async () => {
  const found = await mainEnv.DB.prepare(
    `select tbl_name as name, count(*) as triggers from sqlite_schema
     where type = 'trigger' and name like 'serving_%' group by 1 order by 1`,
  ).all<{ name: string; triggers: number }>();
  const tables = ["model_variants", "model_versions", "models", "placements", "profiles", "projects", "runners"];
  expect(found.results).toEqual(tables.map((name) => ({ name, triggers: 3 })));
});

it("a change makes only its project read anew", async () => {
  const before = await currentSnapshot(call);
  noteChange("another");
  expect(await currentSnapshot(call)).toBe(before);
  noteChange(mainEnv.project);
  const after = await currentSnapshot(call);
  expect(after).not.toBe(before);
  expect(await currentSnapshot(call)).toBe(after);
});

/** A call whose statements that name a table are counted. */
function counting(table: string) {
  let count = 0;
  const prepare = (query: string) => {
    if (query.includes(table)) count++;
    return env.DB.prepare(query);
  };
  const DB = new Proxy(env.DB, { get: (db, name) => (name === "prepare" ? prepare : Reflect.get(db, name).bind(db)) });
  return { counted: { ...call, env: { ...mainEnv, DB } }, count: () => count };
}

it("is read by one request of a project at a time, and has nothing of other projects", async () => {
  await addModel("own", "3");
  const other = { ...call, env: { ...mainEnv, project: "someone" } };
  const { counted, count } = counting("model_versions");
  // Of a reading that takes long, nobody waits for the end.
  const clock = stopClock();
  const found = await Promise.all(Array.from({ length: 50 }, () => freshSnapshot(counted)));
  clock.start();
  expect(new Set(found).size).toBeLessThan(5);
  expect(count()).toBeGreaterThan(0);
  expect(count()).toBeLessThan(10);
  expect(findVersion(found[0]!, "own")).not.toBeNull();
  expect(findVersion(await currentSnapshot(other), "own")).toBeNull();
});

/** The database of a call, whose batches, which read snapshots, `trouble` may hold up or fail. */
function troubled(trouble: () => Promise<void>) {
  const batch = async (statements: D1PreparedStatement[]) => {
    await trouble();
    return env.DB.batch(statements);
  };
  const DB = new Proxy(env.DB, { get: (db, name) => (name === "batch" ? batch : Reflect.get(db, name).bind(db)) });
  return { ...call, env: { ...mainEnv, DB } };
}

it("is read by each that waited, where the reading failed, and never waited for without end", async () => {
  let failures = 0;
  const failing = troubled(async () => {
    failures++;
    throw new Error("the database is away");
  });
  const ended = await Promise.allSettled(Array.from({ length: 20 }, () => freshSnapshot(failing)));
  expect(new Set(ended.map(({ status }) => status))).toEqual(new Set(["rejected"]));
  expect(failures).toBeGreaterThanOrEqual(20);
  const never = Promise.withResolvers<void>();
  void freshSnapshot(troubled(() => never.promise)).catch(() => {});
  const waits = vi.spyOn(scheduler, "wait");
  await freshSnapshot(call);
  expect(waits).toHaveBeenCalled();
  expect(waits.mock.calls.reduce((sum, [ms]) => sum + ms, 0)).toBeLessThan(5_000);
  never.resolve();
});

it("of a project that has rested is read anew, and serves on where that fails", async () => {
  await addModel("rested", "4");
  const before = await currentSnapshot(call);
  await addModel("rested", "5");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31_000 });
  try {
    const failing = troubled(async () => {
      throw new Error("the database is away");
    });
    expect(await currentSnapshot(failing)).toBe(before);
    expect(findVersion(await currentSnapshot(call), "rested")?.version).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

it("is kept of as many small projects as ask, which share one look for changes in the database", async () => {
  const marks = counting("serving_state");
  const versions = counting("model_versions");
  const projects = Array.from({ length: 150 }, (_, at) => `small-${at}`);
  const ask = ({ counted }: typeof marks, project: string) =>
    freshSnapshot({ ...counted, env: { ...counted.env, project } });
  const askAll = async (by: typeof marks) => {
    for (const project of projects) await ask(by, project);
  };
  await Promise.all(projects.map((project) => ask(versions, project)));
  expect(versions.count()).toBeGreaterThanOrEqual(150);
  // All have aged at once.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 1_000 });
  try {
    const before = versions.count();
    await askAll(marks);
    await askAll(versions);
    expect(marks.count()).toBe(1);
    expect(versions.count()).toBe(before);
  } finally {
    vi.useRealTimers();
  }
});
