import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { LINK_MIGRATIONS } from "../../../src/edge/link/outbox.ts";
import { QUEUE_MIGRATIONS } from "../../../src/edge/queue/queue-tables.ts";
import { migrateObject, type ObjectMigration } from "../../../src/edge/store/migrate-object.ts";
import { linkStub, newOnlineRunner, queueStub, readJob, submitJob } from "../stack/queue-client.ts";

/** A new object, whose tables a test creates. */
function inFreshObject<Value>(work: (storage: DurableObjectStorage) => Value): Promise<Value> {
  const stub = env.JOB_QUEUE.get(env.JOB_QUEUE.newUniqueId());
  return runInDurableObject(stub, (_, { storage }) => {
    for (const table of tablesOf(storage)) storage.sql.exec(`drop table ${table}`);
    return work(storage);
  });
}

function tablesOf({ sql }: DurableObjectStorage): string[] {
  return sql
    .exec<{ name: string }>(
      "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like '_cf_%'",
    )
    .toArray()
    .map(({ name }) => name);
}

function layoutOf(storage: DurableObjectStorage): Record<string, string[]> {
  const columns = (table: string) =>
    storage.sql
      .exec<{ name: string }>("select name from pragma_table_info(?)", table)
      .toArray()
      .map(({ name }) => name)
      .toSorted();
  return Object.fromEntries(
    tablesOf(storage)
      .toSorted()
      .map((table) => [table, columns(table)]),
  );
}

describe.each([
  ["queue", QUEUE_MIGRATIONS],
  ["link", LINK_MIGRATIONS],
] as const)("the layout of a %s object", (_, migrations) => {
  it("is the same from every step on", async () => {
    const whole = await inFreshObject((storage) => {
      migrateObject(storage, migrations);
      return layoutOf(storage);
    });
    for (let step = 0; step <= migrations.length; step++) {
      const layout = await inFreshObject((storage) => {
        if (step > 0) migrateObject(storage, migrations.slice(0, step));
        migrateObject(storage, migrations);
        migrateObject(storage, migrations);
        return layoutOf(storage);
      });
      expect(layout, `from step ${step}`).toEqual(whole);
    }
  });

  it("is the same where its tables were there before it had versions", async () => {
    const [first] = migrations as readonly [string];
    const { old, whole } = await inFreshObject((storage) => {
      migrateObject(storage, migrations);
      const fresh = layoutOf(storage);
      for (const table of tablesOf(storage)) storage.sql.exec(`drop table ${table}`);
      storage.sql.exec(first);
      migrateObject(storage, migrations);
      return { old: layoutOf(storage), whole: fresh };
    });
    expect(old).toEqual(whole);
  });
});

describe("an object of an older release", () => {
  it("gets the column that its outbox lacks, and keeps its rows", async () => {
    await inFreshObject((storage) => {
      storage.sql.exec(
        "create table outbox (id integer primary key autoincrement, at_ms integer not null, key text not null, aggregate text not null) strict",
      );
      storage.sql.exec("insert into outbox (at_ms, key, aggregate) values (7, '{}', '{}')");
      migrateObject(storage, LINK_MIGRATIONS);
      expect(storage.sql.exec("select at_ms, batch from outbox").toArray()).toEqual([{ at_ms: 7, batch: null }]);
    });
  });

  it("goes on with its jobs", async () => {
    const { scripted } = await newOnlineRunner();
    const { id } = await submitJob();
    const offer = await scripted.next("offer");
    await runInDurableObject(queueStub(), (_, { storage }) => {
      storage.sql.exec("drop table layout; drop table runner_standings");
    });
    await evictDurableObject(queueStub());
    scripted.succeed(offer);
    expect((await scripted.next("jobSettled")).stored).toBe(true);
    expect((await readJob(id)).state).toBe("succeeded");
    await runInDurableObject(queueStub(), (_, { storage }) => {
      expect(storage.sql.exec("select version from layout").toArray()).toEqual([{ version: QUEUE_MIGRATIONS.length }]);
    });
  });

  it("is left whole by a step that fails, which is tried again", async () => {
    await inFreshObject((storage) => {
      const first: ObjectMigration = "create table a (x integer) strict";
      expect(() =>
        migrateObject(storage, [first, "create table b (x integer) strict; insert into nowhere values (1)"]),
      ).toThrow("nowhere");
      expect(tablesOf(storage)).toEqual(["layout"]);
      migrateObject(storage, [first, "create table b (x integer) strict"]);
      expect(tablesOf(storage).toSorted()).toEqual(["a", "b", "layout"]);
    });
  });

  it("of a newer one is left as it is", async () => {
    await inFreshObject((storage) => {
      migrateObject(storage, ["create table a (x integer) strict", "create table b (x integer) strict"]);
      migrateObject(storage, ["create table c (x integer) strict"]);
      expect(tablesOf(storage).toSorted()).toEqual(["a", "b", "layout"]);
    });
  });
});

it("a link object keeps what it knew over a change of its layout", async () => {
  const { runnerId, scripted } = await newOnlineRunner();
  await runInDurableObject(linkStub(runnerId), (_, { storage }) => {
    storage.sql.exec("drop table layout");
  });
  await evictDurableObject(linkStub(runnerId));
  scripted.send({ type: "echo", id: 5 });
  expect((await scripted.next("echoReply")).id).toBe(5);
});
