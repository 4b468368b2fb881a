import { inArray, sql } from "drizzle-orm";
import type { Capabilities } from "../../../protocol/fleet/hardware.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { BoundedPlaces } from "../../bounded-places.ts";
import { untilEntered } from "../../heavy-places.ts";
import { endTurn } from "../../turns.ts";
import { type Database, listOf } from "../database.ts";
import { runners } from "../schema.ts";

/** Characters of what runners announced that an isolate keeps parsed, which takes some three times as many bytes. */
const KEPT_CHARACTERS = 2 ** 23;
/** Texts of one statement: of our runners, which announce some 60 KB, two megabytes; three times as many at most. */
const READ_AT_ONCE = 32;

/** By runner, as of a version of its row, which changes with each announcement. */
const kept = new Map<string, { readonly version: number; readonly capabilities: Capabilities }>();
let characters = 0;

/** Characters that may still be added. */
export interface Room {
  characters: number;
}

/** Of the runners of one reading, or of one project: two thousand of ours have some 3 KB each beside their kernels. */
export const ANNOUNCED_ROOM = 2 ** 23;
/** More texts are read by one request at a time: each would parse all of them. */
const FEW = 8;
const reading = new BoundedPlaces({ ofOne: 1, ofAll: 1, leaseMs: 30_000 });

/** Kernels and environments that runners announced: those of one release are the same objects for a whole fleet. */
export class AnnouncedParts {
  readonly #known = new Map<string, unknown>();

  /**
   * What a runner announced, with kernels and environments that others announced, too. What has no room is left out:
   * nobody may fill an isolate.
   */
  share(announced: Capabilities, room: Room): Capabilities {
    const { kernels, environments } = announced;
    const isIn = ownLength(announced) <= room.characters;
    const own = isIn ? announced : { ...announced, devices: [] };
    room.characters -= ownLength(own);
    return {
      ...own,
      kernels: this.#shareEach(kernels, room),
      ...(environments !== undefined && { environments: this.#shareEach(environments, room) }),
    };
  }

  #shareEach<Part>(parts: readonly Part[], room: Room): Part[] {
    return parts.flatMap((part) => {
      const text = JSON.stringify(part);
      const known = this.#known.get(text) as Part | undefined;
      if (known !== undefined) return [known];
      if (text.length > room.characters) return [];
      room.characters -= text.length;
      this.#known.set(text, part);
      return [part];
    });
  }
}

/** Characters of a runner's own part: its machine and devices. */
export function ownLength({ hardware, devices }: Capabilities): number {
  return JSON.stringify([hardware, devices]).length;
}

let parts = new AnnouncedParts();

/**
 * Adds what runners announced to their rows, and leaves those out that announced nothing. A text is read where its row
 * has changed since.
 */
export async function withCapabilities<Row extends { readonly id: string; readonly version: number }>(
  db: Database,
  rows: readonly Row[],
): Promise<(Row & { readonly capabilities: Capabilities })[]> {
  const known = new Map<string, Capabilities>();
  const readOthers = async (unknown: readonly string[]) => {
    const room = { characters: ANNOUNCED_ROOM };
    for (let from = 0; from < unknown.length; from += READ_AT_ONCE) {
      if (from > 0) await endTurn();
      for (const read of await readTexts(db, unknown.slice(from, from + READ_AT_ONCE))) known.set(...keep(read, room));
    }
  };
  const unknown = addKept(known, rows);
  if (unknown.length <= FEW) await readOthers(unknown);
  else {
    const place = await untilEntered((nowMs) => reading.enter("any", nowMs));
    // Where another reading takes that long, the database is what is late.
    if (place === null) throw new ProblemError("overloaded", "What runners announced is still being read.");
    // Another request may have read them meanwhile.
    await readOthers(addKept(known, rows)).finally(() => reading.leave(place));
  }
  return rows.flatMap((row) => {
    const capabilities = known.get(row.id);
    return capabilities === undefined ? [] : [{ ...row, capabilities }];
  });
}

/** Adds those that are kept as their rows are now; returns the others. */
function addKept(
  known: Map<string, Capabilities>,
  rows: readonly { readonly id: string; readonly version: number }[],
): string[] {
  return rows.flatMap(({ id, version }) => {
    const found = kept.get(id);
    if (found?.version !== version) return [id];
    known.set(id, found.capabilities);
    return [];
  });
}

interface Announced {
  readonly id: string;
  readonly version: number;
  readonly text: string;
}

function readTexts(db: Database, ids: readonly string[]): Promise<Announced[]> {
  const { id, version, capabilities } = runners;
  return db
    .select({ id, version, text: sql<string>`${capabilities}` })
    .from(runners)
    .where(sql`${inArray(id, listOf(ids))} and ${capabilities} is not null`);
}

function keep({ id, version, text }: Announced, room: Room): [id: string, capabilities: Capabilities] {
  const before = room.characters;
  const capabilities = parts.share(JSON.parse(text) as Capabilities, room);
  characters += before - room.characters;
  if (characters > KEPT_CHARACTERS) forgetCapabilities();
  kept.set(id, { version, capabilities });
  return [id, capabilities];
}

/** Forgets what runners announced, as a new isolate would. */
export function forgetCapabilities(): void {
  kept.clear();
  parts = new AnnouncedParts();
  characters = 0;
}
