import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { WatchLog } from "../../../src/edge/fleet/watch/watch-log.ts";
import { LINK_MIGRATIONS } from "../../../src/edge/link/outbox.ts";
import { migrateObject } from "../../../src/edge/store/migrate-object.ts";
import { report } from "../stack/health-samples.ts";
import { linkStub } from "../stack/queue-client.ts";

const EVERY_MS = 10_000;
const KEPT = 60;
const START_MS = Date.parse("2026-06-01T00:00:00.000Z");
const toInstant = (ms: number) => new Date(ms).toISOString();
/** The report of that number from a process that has been there for a quarter of an hour. */
const reportOf = (number: number) => ({
  ...report(0),
  startedAt: toInstant(START_MS - 900_000),
  at: toInstant(START_MS + number * EVERY_MS),
});

it("a report of health overwrites one row, and a sample of memory one each minute", async () => {
  await runInDurableObject(linkStub("log-of-one"), async (_, { storage }) => {
    const cursors: { readonly rowsWritten: number }[] = [];
    const exec: typeof storage.sql.exec = (query, ...bindings) => {
      const cursor = storage.sql.exec(query, ...bindings);
      cursors.push(cursor);
      return cursor as never;
    };
    const log = new WatchLog({ exec });
    for (let number = 0; number < KEPT; number++) log.add(reportOf(number), START_MS + number * EVERY_MS);
    cursors.length = 0;
    for (let number = KEPT; number < 2 * KEPT; number++) log.add(reportOf(number), START_MS + number * EVERY_MS);
    expect(cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0)).toBe(KEPT + KEPT / 6);
    const nowMs = START_MS + (2 * KEPT - 1) * EVERY_MS;
    expect(log.latest()?.at).toBe(toInstant(nowMs));
    expect((await log.reports(nowMs)).map(({ at }) => at)).toEqual(
      Array.from({ length: KEPT }, (_each, index) => toInstant(nowMs - (KEPT - 1 - index) * EVERY_MS)),
    );
  });
});

it("the reports of an earlier release are kept", async () => {
  await runInDurableObject(linkStub("log-of-another"), async (_, { storage }) => {
    const { sql } = storage;
    for (const table of ["outbox", "recent_reports", "watch", "layout"]) sql.exec(`drop table ${table}`);
    migrateObject(storage, LINK_MIGRATIONS.slice(0, 3));
    for (let number = 0; number < KEPT; number++) {
      sql.exec(
        "insert into health_reports (id, report) values (?, ?)",
        1_000 + number,
        JSON.stringify(reportOf(number)),
      );
    }
    migrateObject(storage, LINK_MIGRATIONS);
    const log = new WatchLog(sql);
    const nowMs = START_MS + KEPT * EVERY_MS;
    expect(await log.reports(nowMs)).toHaveLength(KEPT);
    log.add(reportOf(KEPT), nowMs);
    expect((await log.reports(nowMs)).map(({ at }) => at)).toEqual(
      Array.from({ length: KEPT }, (_each, index) => toInstant(START_MS + (index + 1) * EVERY_MS)),
    );
  });
});

it("reports are read in many turns, and those that go meanwhile are left out", async () => {
  await runInDurableObject(linkStub("log-of-a-third"), async (_, { storage }) => {
    const log = new WatchLog(storage.sql);
    for (let number = 0; number < KEPT; number++) log.add(reportOf(number), START_MS + number * EVERY_MS);
    setTimeout(() => log.clear(), 0);
    const read = await log.reports(START_MS + KEPT * EVERY_MS);
    expect(read.length).toBeLessThan(KEPT);
    expect(read[0]?.at).toBe(toInstant(START_MS));
  });
});
