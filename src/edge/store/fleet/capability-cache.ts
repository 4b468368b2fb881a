import { inArray, sql } from "drizzle-orm";
import type { Capabilities } from "../../../protocol/fleet/hardware.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { BoundedPlaces } from "../../bounded-places.ts";
import { untilEntered } from "../../heavy-places.ts";
import { endTurn } from "../../turns.ts";
import { listOf, type ProjectDatabase } from "../database.ts";
import { runners } from "../schema.ts";

/**
 * Characters of what runners announced that an isolate keeps parsed, in some three times as many bytes: room for one
 * project at its limit (`ANNOUNCED_ROOM`), and for half as much of others.
 */
const KEPT_CHARACTERS = 1.5 * 2 ** 23;
/** Texts of one statement: of our runners, which announce some 60 KB, two megabytes; three times as many at most. */
const READ_AT_ONCE = 32;

/** What a runner announced, as of a version of its row, which changes with each announcement. */
interface Kept {
  readonly version: number;
  readonly capabilities: Capabilities;
}

/** By runner. */
const kept = new Map<string, Kept>();
/** By project and runner: what a reading of the project had no room for is left out for the project alone. */
const keptCut = new Map<string, Kept>();
let keptCharacters = 0;

/** Characters that may still be taken, of all in `of`, too. */
export class Room {
  #left: number;
  readonly #of: Room | undefined;

  constructor(characters: number, of?: Room) {
    this.#left = characters;
    this.#of = of;
  }

  get left(): number {
    return Math.min(this.#left, this.#of?.left ?? this.#left);
  }

  /** Takes characters, or gives them back where there are less than none. */
  take(characters: number): void {
    this.#left -= characters;
    this.#of?.take(characters);
  }
}

/**
 * Of the runners of one reading, or of one project: a thousand of ours with one GPU have some 7 KB each beside their
 * kernels.
 */
export const ANNOUNCED_ROOM = 2 ** 23;
/** More texts are read by one request at a time: each would parse all of them. */
const FEW = 8;
const reading = new BoundedPlaces({ ofOne: 1, ofAll: 1, leaseMs: 5_000 });

/** Kernels and environments that runners announced: those of one release are the same objects for a whole fleet. */
export class AnnouncedParts {
  readonly #known = new Map<string, unknown>();

  /**
   * What a runner announced, with kernels and environments that others announced, too. What has no room is left out:
   * nobody may fill an isolate.
   */
  share(announced: Capabilities, room: Room): Capabilities {
    const { kernels, environments } = announced;
    const own = ownLength(announced) <= room.left ? announced : { ...announced, devices: [] };
    room.take(ownLength(own));
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
      if (text.length > room.left) return [];
      room.take(text.length);
      this.#known.set(text, part);
      return [part];
    });
  }
}

/** Whether something was left out of what a runner announced. */
export function isCut(announced: Capabilities, shared: Capabilities): boolean {
  const count = ({ devices, kernels, environments = [] }: Capabilities) =>
    devices.length + kernels.length + environments.length;
  return count(shared) < count(announced);
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
  db: ProjectDatabase,
  rows: readonly Row[],
): Promise<(Row & { readonly capabilities: Capabilities })[]> {
  const known = new Map<string, Capabilities>();
  const unknown = addKept(known, db, rows);
  if (unknown.length <= FEW) await readOthers(known, db, unknown);
  else {
    const place = await untilEntered((nowMs) => reading.enter(db.project, nowMs));
    if (place === null)
      throw new ProblemError("overloaded", "What runners announced is still being read.", { retryAfterMs: 1_000 });
    // Another request may have read them meanwhile.
    await readOthers(known, db, addKept(known, db, rows)).finally(() => reading.leave(place));
  }
  return rows.flatMap((row) => {
    const capabilities = known.get(row.id);
    return capabilities === undefined ? [] : [{ ...row, capabilities }];
  });
}

/** Adds those that are kept as their rows are now; returns the others. */
function addKept(
  known: Map<string, Capabilities>,
  { project }: ProjectDatabase,
  rows: readonly { readonly id: string; readonly version: number }[],
): string[] {
  return rows.flatMap(({ id, version }) => {
    const found = [kept.get(id), keptCut.get(`${project} ${id}`)].find((each) => each?.version === version);
    if (found === undefined) return [id];
    known.set(id, found.capabilities);
    return [];
  });
}

async function readOthers(
  known: Map<string, Capabilities>,
  db: ProjectDatabase,
  unknown: readonly string[],
): Promise<void> {
  const room = new Room(ANNOUNCED_ROOM);
  for (let from = 0; from < unknown.length; from += READ_AT_ONCE) {
    if (from > 0) await endTurn();
    for (const read of await readTexts(db, unknown.slice(from, from + READ_AT_ONCE)))
      known.set(read.id, keep(db.project, read, room));
  }
}

interface Announced {
  readonly id: string;
  readonly version: number;
  readonly text: string;
}

function readTexts(db: ProjectDatabase, ids: readonly string[]): Promise<Announced[]> {
  const { id, version, capabilities } = runners;
  return db
    .select({ id, version, text: sql<string>`${capabilities}` })
    .from(runners)
    .where(sql`${inArray(id, listOf(ids))} and ${capabilities} is not null`);
}

function keep(project: string, { id, version, text }: Announced, room: Room): Capabilities {
  const before = room.left;
  const announced = JSON.parse(text) as Capabilities;
  const capabilities = parts.share(announced, room);
  if (keptCharacters + before - room.left > KEPT_CHARACTERS) forgetCapabilities();
  keptCharacters += before - room.left;
  if (isCut(announced, capabilities)) keptCut.set(`${project} ${id}`, { version, capabilities });
  else kept.set(id, { version, capabilities });
  return capabilities;
}

/** Forgets what runners announced, as a new isolate would. */
export function forgetCapabilities(): void {
  kept.clear();
  keptCut.clear();
  parts = new AnnouncedParts();
  keptCharacters = 0;
}
