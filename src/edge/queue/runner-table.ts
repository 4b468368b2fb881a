import type { KnownRunner } from "./queue-rpc.ts";
import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import type { RunnerOwner } from "../store/project-store.ts";
import { ANNOUNCED_ROOM, AnnouncedParts, isCut, ownLength, Room } from "../store/fleet/capability-cache.ts";
import type { ObjectSql } from "../store/migrate-object.ts";

type Row = {
  id: string;
  capabilities: string;
  online: number;
  draining: number;
  project: string;
  shared: number;
  jobs_left: number | null;
};

/** Characters that runners of all projects announced and that are kept parsed, in some three times as many bytes. */
const ROOM_OF_ALL = 1.5 * ANNOUNCED_ROOM;
/** Where something had no room, all is read anew after this time: what is announced no more then has its room back. */
const READ_ANEW_MS = 600_000;

/**
 * Runners that have said hello, in the queue object's SQLite, and in memory as they were read last: their capabilities
 * have kilobytes of JSON, and each dispatch looks at all of them.
 */
export class RunnerTable {
  readonly #sql: ObjectSql;
  #known: Map<string, KnownRunner> | null = null;
  #fleet: string | null = null;
  #parts = new AnnouncedParts();
  #roomOfAll = new Room(ROOM_OF_ALL);
  /** By project. */
  readonly #rooms = new Map<string, Room>();
  #readAtMs = 0;
  #isCut = false;

  constructor(sql: ObjectSql) {
    this.#sql = sql;
  }

  /** Name of the fleet as it is: another one once a runner came, left, or can do or serves something else. */
  get fleet(): string {
    this.#all();
    this.#fleet ??= this.#sql.exec<{ name: string }>("select name from fleet").toArray()[0]?.name ?? this.#nameFleet();
    return this.#fleet;
  }

  save(runner: KnownRunner): void {
    const before = this.find(runner.id);
    const isAsBefore =
      before?.project === runner.project &&
      before.shared === runner.shared &&
      this.#announcedBy(runner.id) === JSON.stringify(runner.capabilities);
    this.#sql.exec(
      `insert into runners (id, capabilities, online, draining, project, shared, jobs_left)
       values (?, ?, ?, ?, ?, ?, ?)
       on conflict (id) do update set capabilities = excluded.capabilities, online = excluded.online,
         draining = excluded.draining, project = excluded.project, shared = excluded.shared,
         jobs_left = excluded.jobs_left`,
      runner.id,
      JSON.stringify(runner.capabilities),
      Number(runner.online),
      Number(runner.draining),
      runner.project,
      Number(runner.shared),
      runner.jobsLeft,
    );
    this.#known?.set(runner.id, this.#share(runner));
    // Most runners come back as they were.
    if (!isAsBefore) this.#fleet = this.#nameFleet();
  }

  setCapabilities(id: string, capabilities: Capabilities): void {
    const before = this.find(id);
    const text = JSON.stringify(capabilities);
    if (before === null || this.#announcedBy(id) === text) return;
    this.#sql.exec("update runners set capabilities = ? where id = ?", text, id);
    this.#update(id, this.#share({ ...before, capabilities }));
    this.#fleet = this.#nameFleet();
  }

  setOnline(id: string, online: boolean): void {
    // Most updates change nothing: an unchanged row is not written.
    this.#sql.exec("update runners set online = ?1 where id = ?2 and online <> ?1", Number(online), id);
    this.#update(id, { online });
  }

  setDraining(id: string, draining: boolean): void {
    this.#sql.exec("update runners set draining = ? where id = ?", Number(draining), id);
    this.#update(id, { draining });
  }

  setJobsLeft(id: string, jobsLeft: number): void {
    this.#sql.exec("update runners set jobs_left = ? where id = ?", jobsLeft, id);
    this.#update(id, { jobsLeft });
  }

  setShared(id: string, shared: boolean): void {
    this.#sql.exec("update runners set shared = ? where id = ?", Number(shared), id);
    this.#update(id, { shared });
    this.#fleet = this.#nameFleet();
  }

  forget(id: string): void {
    this.#sql.exec("delete from runners where id = ?", id);
    this.#giveBack(id);
    this.#known?.delete(id);
    this.#fleet = this.#nameFleet();
  }

  find(id: string): KnownRunner | null {
    return this.#all().get(id) ?? null;
  }

  list(): KnownRunner[] {
    return [...this.#all().values()];
  }

  /** Owner of a runner; null for one that never said hello. */
  findOwner(id: string): RunnerOwner | null {
    const found = this.find(id);
    return found === null ? null : { project: found.project, shared: found.shared };
  }

  #all(): Map<string, KnownRunner> {
    const nowMs = Date.now();
    if (this.#known !== null && !(this.#isCut && nowMs - this.#readAtMs > READ_ANEW_MS)) return this.#known;
    this.#known = null;
    this.#parts = new AnnouncedParts();
    this.#roomOfAll = new Room(ROOM_OF_ALL);
    this.#rooms.clear();
    this.#readAtMs = nowMs;
    // What was cut may take jobs again that no runner fitted.
    if (this.#isCut) this.#fleet = this.#nameFleet();
    this.#isCut = false;
    const known = new Map<string, KnownRunner>();
    // One after the other: texts of all runners at once would fill the memory.
    for (const row of this.#sql.exec<Row>("select * from runners")) known.set(row.id, this.#share(toRunner(row)));
    this.#known = known;
    return known;
  }

  /** What a runner announced last, as JSON. */
  #announcedBy(id: string): string | undefined {
    const rows = this.#sql.exec<{ capabilities: string }>("select capabilities from runners where id = ?", id);
    return rows.toArray()[0]?.capabilities;
  }

  /** Most of what it announced is what others announced, too. */
  #share(runner: KnownRunner): KnownRunner {
    this.#giveBack(runner.id);
    const capabilities = this.#parts.share(runner.capabilities, this.#roomOf(runner.project));
    if (isCut(runner.capabilities, capabilities)) {
      if (!this.#isCut) console.warn(JSON.stringify({ event: "announcement-cut", runnerId: runner.id }));
      this.#isCut = true;
    }
    return { ...runner, capabilities };
  }

  #giveBack(id: string): void {
    const before = this.#known?.get(id);
    if (before !== undefined) this.#roomOf(before.project).take(-ownLength(before.capabilities));
  }

  #roomOf(project: string): Room {
    const room = this.#rooms.get(project) ?? new Room(ANNOUNCED_ROOM, this.#roomOfAll);
    this.#rooms.set(project, room);
    return room;
  }

  #update(id: string, change: Partial<KnownRunner>): void {
    const before = this.#known?.get(id);
    if (before !== undefined) this.#known?.set(id, { ...before, ...change });
  }

  #nameFleet(): string {
    const name = crypto.randomUUID();
    this.#sql.exec("delete from fleet");
    this.#sql.exec("insert into fleet (name) values (?)", name);
    return name;
  }
}

function toRunner(row: Row): KnownRunner {
  return {
    id: row.id,
    capabilities: JSON.parse(row.capabilities) as Capabilities,
    online: row.online === 1,
    draining: row.draining === 1,
    project: row.project,
    shared: row.shared === 1,
    jobsLeft: row.jobs_left,
  };
}
