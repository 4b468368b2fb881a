import { afterEach, describe, expect, it, vi } from "vitest";
import { SimStorage } from "../../../../bench/simulate/sim-storage.ts";
import { RunnerTable } from "../../../../src/edge/queue/runner-table.ts";
import type { KnownRunner } from "../../../../src/edge/queue/queue-rpc.ts";
import { openTables, QUEUE_MIGRATIONS } from "../../../../src/edge/queue/queue-tables.ts";
import { migrateObject } from "../../../../src/edge/store/migrate-object.ts";
import { ANNOUNCED_ROOM, AnnouncedParts, ownLength, Room } from "../../../../src/edge/store/fleet/capability-cache.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { capabilities } from "../../../edge/stack/samples.ts";

const copy = () => structuredClone(capabilities);
const [kernel] = capabilities.kernels;

/** Capabilities with kernels that nobody else has, as many as one runner may announce. */
function largeCapabilities(runner: number) {
  const description = "d".repeat(LIMITS.announcedTextLength);
  const kernels = Array.from({ length: 80 }, (_, at) => ({ ...kernel!, name: `${runner}-${at}`, description }));
  return { ...copy(), kernels };
}

afterEach(() => void vi.useRealTimers());

describe("parts that runners announced", () => {
  it("are the same objects for all runners with equal ones, however different their machines are", () => {
    const parts = new AnnouncedParts();
    const room = new Room(ANNOUNCED_ROOM);
    const first = parts.share(copy(), room);
    const { left } = room;
    const other = copy();
    const second = parts.share({ ...other, hardware: { ...other.hardware, hostname: "another" } }, room);
    expect(first).toEqual(capabilities);
    expect(second.hardware.hostname).toBe("another");
    expect(second.kernels.every((each, index) => each === first.kernels[index])).toBe(true);
    expect(left - room.left).toBe(ownLength(second));
  });

  it("are left out without room, and devices after them", () => {
    const parts = new AnnouncedParts();
    const room = new Room(ownLength(capabilities) + JSON.stringify(kernel).length);
    expect(parts.share(copy(), room).kernels).toEqual([kernel]);
    const second = parts.share(largeCapabilities(1), room);
    expect(second).toMatchObject({ kernels: [], devices: [], hardware: capabilities.hardware });
  });
});

describe("the queue's runners", () => {
  const open = () => {
    const storage = new SimStorage();
    migrateObject(storage, QUEUE_MIGRATIONS);
    return storage.sql;
  };
  const runnerOf = (id: string, project: string, announced = copy()): KnownRunner => {
    const state = { online: true, draining: false, shared: false, jobsLeft: null };
    return { id, project, ...state, capabilities: announced };
  };

  it("keep no more than there is room for of one project and of all, and nothing less of a modest one", () => {
    const sql = open();
    const { runners } = openTables(sql, () => 1);
    runners.save(runnerOf("rnr_modest", "modest"));
    for (let index = 0; index < 150; index++)
      runners.save(runnerOf(`rnr_${index}`, `greedy-${index % 3}`, largeCapabilities(index)));
    for (const table of [runners, new RunnerTable(sql)]) {
      const all = table.list().map((each) => JSON.stringify(each.capabilities).length);
      expect(all.reduce((sum, length) => sum + length, 0)).toBeLessThan(1.6 * ANNOUNCED_ROOM);
      expect(table.find("rnr_modest")?.capabilities).toEqual(capabilities);
    }
  });

  it("have the room of kernels that are announced no more again, some time later", () => {
    vi.useFakeTimers();
    const { runners } = openTables(open(), () => 1);
    for (let time = 0; time < 100; time++) runners.save(runnerOf("rnr_busy", "main", largeCapabilities(time)));
    expect(runners.find("rnr_busy")?.capabilities).not.toEqual(largeCapabilities(99));
    vi.advanceTimersByTime(700_000);
    expect(runners.find("rnr_busy")?.capabilities).toEqual(largeCapabilities(99));
  });

  it("may come back as often as they like", () => {
    const { runners } = openTables(open(), () => 1);
    const times = Math.ceil((2 * ANNOUNCED_ROOM) / ownLength(capabilities) / 100);
    const many = {
      ...copy(),
      hardware: { ...copy().hardware, cpu: { ...copy().hardware.cpu, features: ["f".repeat(256)] } },
    };
    for (let time = 0; time < times; time++) runners.save(runnerOf("rnr_again", "main", many));
    expect(runners.find("rnr_again")?.capabilities).toEqual(many);
  });
});
