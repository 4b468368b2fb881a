import type { KnownRunner } from "./queue-rpc.ts";
import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import type { RunnerOwner } from "../store/project-store.ts";
import { ANNOUNCED_ROOM, AnnouncedParts, ownLength, type Room } from "../store/fleet/capability-cache.ts";
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

/**
 * Runners that have said hello, in the queue object's SQLite, and in memory as they were read last: their capabilities
 * have kilobytes of JSON, and each dispatch looks at all of them.
 */
export class RunnerTable {
  readonly #sql: ObjectSql;
  #known: Map<string, KnownRunner> | null = null;
  #fleet: string | null = null;
  readonly #parts = new AnnouncedParts();
  /** By project. */
  readonly #rooms = new Map<string, Room>();

  constructor(sql: ObjectSql) {
    this.#sql = sql;
  }

  /** Name of the fleet as it is: another one once a runner came, left, or can do or serves something else. */
  get fleet(): string {
    this.#fleet ??= this.#sql.exec<{ name: string }>("select name from fleet").toArray()[0]?.name ?? this.#nameFleet();
    return this.#fleet;
  }

  save(runner: KnownRunner): void {
    const before = this.find(runner.id);
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
    if (before === null || !isAbleAs(before, runner)) this.#fleet = this.#nameFleet();
  }

  setCapabilities(id: string, capabilities: Capabilities): void {
    const before = this.find(id);
    if (before === null || isAbleAs(before, { ...before, capabilities })) return;
    this.#sql.exec("update runners set capabilities = ? where id = ?", JSON.stringify(capabilities), id);
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
    const before = this.find(id);
    if (before !== null) this.#roomWithout(id, before.project);
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
    if (this.#known !== null) return this.#known;
    this.#known = new Map();
    // One after the other: texts of all runners at once would fill the memory.
    for (const row of this.#sql.exec<Row>("select * from runners")) this.#known.set(row.id, this.#share(toRunner(row)));
    return this.#known;
  }

  /** Most of what it announced is what others announced, too. */
  #share(runner: KnownRunner): KnownRunner {
    const room = this.#roomWithout(runner.id, runner.project);
    return { ...runner, capabilities: this.#parts.share(runner.capabilities, room) };
  }

  #roomWithout(id: string, project: string): Room {
    const room = this.#rooms.get(project) ?? { characters: ANNOUNCED_ROOM };
    this.#rooms.set(project, room);
    const before = this.#known?.get(id);
    if (before !== undefined) room.characters += ownLength(before.capabilities);
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

/** Whether a runner may take the same jobs as before. */
function isAbleAs(before: KnownRunner, after: KnownRunner): boolean {
  const isSame = before.project === after.project && before.shared === after.shared;
  return isSame && JSON.stringify(before.capabilities) === JSON.stringify(after.capabilities);
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
