import { and, asc, eq, gt, inArray, type SQL, sql } from "drizzle-orm";
import { ItemMemory, type ItemMemorySpec } from "../../../protocol/inference/hrr.ts";
import type { PageQuery } from "../../../protocol/wire/page.ts";
import { cutPage, decodeCursor } from "../cursor.ts";
import { type Database, listOf, type ProjectDatabase } from "../database.ts";
import { toInstant } from "../../clock.ts";
import { roomFor } from "../quotas/quota-store.ts";
import { itemMemories, itemMemoryParts } from "../schema.ts";

/** Items of a memory in one artifact: rows of float32, padded to four numbers. */
export interface MemoryPart {
  readonly part: number;
  readonly digest: string;
  readonly sizeBytes: number;
  /** Of the keys as JSON. */
  readonly keyBytes: number;
}

/** A memory without the keys of its items, which may have many megabytes. */
export interface StoredMemory {
  readonly spec: ItemMemorySpec;
  readonly version: number;
  /** Tells it from another memory of this name, once it was deleted. */
  readonly createdAtMs: number;
  readonly parts: readonly MemoryPart[];
}

function isNamed({ project }: ProjectDatabase, name: string): SQL {
  return and(eq(itemMemories.project, project), eq(itemMemories.name, name))!;
}

/** Creates a memory, unless its name is taken or the project's quota is used up. */
export async function createItemMemory(
  db: ProjectDatabase,
  spec: ItemMemorySpec,
): Promise<ItemMemory | "taken" | "full"> {
  const nowMs = Date.now();
  const { project } = db;
  const { meta } = await db.run(sql`
    insert into item_memories (project, name, spec, version, created_at_ms, updated_at_ms)
    select ${project}, ${spec.name}, ${JSON.stringify(spec)}, 1, ${nowMs}, ${nowMs}
    where ${roomFor(db, "itemMemories")}
    on conflict do nothing`);
  const found = await describeItemMemory(db, spec.name);
  if (meta.changes > 0 && found !== null) return found;
  return found === null ? "full" : "taken";
}

/** Description of a memory; null where there is none. */
export async function describeItemMemory(db: ProjectDatabase, name: string): Promise<ItemMemory | null> {
  const [row] = await db.select(described).from(itemMemories).where(isNamed(db, name));
  return row === undefined ? null : toItemMemory(row);
}

/** Memories by name. Throws `invalid-request` for a cursor of another list. */
export async function listItemMemories(
  db: ProjectDatabase,
  { cursor, limit }: PageQuery,
): Promise<{ items: ItemMemory[]; nextCursor: string | null }> {
  const after = cursor === undefined ? undefined : gt(itemMemories.name, String(decodeCursor(cursor, 1)[0]));
  const found = await db
    .select(described)
    .from(itemMemories)
    .where(and(eq(itemMemories.project, db.project), after))
    .orderBy(asc(itemMemories.name))
    .limit(limit + 1);
  const { rows, nextCursor } = cutPage(found, limit, (row) => [row.name]);
  return { items: rows.map(toItemMemory), nextCursor };
}

function isPartOf({ project }: ProjectDatabase, name: string): SQL {
  return and(eq(itemMemoryParts.project, project), eq(itemMemoryParts.memory, name))!;
}

/** A memory with its parts in order; null where there is none. */
export async function readItemMemory(db: ProjectDatabase, name: string): Promise<StoredMemory | null> {
  const { part, digest, sizeBytes, keys } = itemMemoryParts;
  const [[row], parts] = await db.batch([
    db.select().from(itemMemories).where(isNamed(db, name)),
    db
      .select({ part, digest, sizeBytes, keyBytes: sql<number>`octet_length(${keys})` })
      .from(itemMemoryParts)
      .where(isPartOf(db, name))
      .orderBy(asc(part)),
  ]);
  if (row === undefined) return null;
  const { spec, version, createdAtMs } = row;
  return { spec, version, createdAtMs, parts };
}

function isStill(db: ProjectDatabase, { spec: { name }, createdAtMs }: StoredMemory): SQL {
  return and(isNamed(db, name), eq(itemMemories.createdAtMs, createdAtMs))!;
}

/** Keys of some parts of a memory, by part; none where it was deleted meanwhile. */
export async function readPartKeys(
  db: ProjectDatabase,
  memory: StoredMemory,
  parts: readonly number[],
): Promise<Map<number, string[]>> {
  const { part, keys } = itemMemoryParts;
  const rows = await db
    .select({ part, keys })
    .from(itemMemoryParts)
    .where(
      and(
        isPartOf(db, memory.spec.name),
        inArray(part, [...parts]),
        sql`exists (select 1 from ${itemMemories} where ${isStill(db, memory)})`,
      ),
    );
  return new Map(rows.map((row) => [row.part, row.keys]));
}

/** Those of some keys that a memory has. */
export async function findKeys(db: ProjectDatabase, name: string, wanted: readonly string[]): Promise<Set<string>> {
  const found = await db.all<{ key: string }>(sql`
    select item.value as key from ${itemMemoryParts}, json_each(${itemMemoryParts.keys}) as item
    where ${isPartOf(db, name)} and item.value in ${listOf(wanted)}`);
  return new Set(found.map(({ key }) => key));
}

/** Adds a part and makes a new version of the memory, if its version is unchanged; false where it changed. */
export async function savePart(
  db: ProjectDatabase,
  memory: StoredMemory,
  { part, digest, sizeBytes, keys }: Omit<MemoryPart, "keyBytes"> & { readonly keys: readonly string[] },
): Promise<boolean> {
  const { spec, version } = memory;
  const isIt = and(isStill(db, memory), eq(itemMemories.version, version));
  const [, updated] = await db.batch([
    db
      .insert(itemMemoryParts)
      .select(
        sql`select ${db.project}, ${spec.name}, ${part}, ${digest}, ${sizeBytes}, ${JSON.stringify(keys)}
          where exists (select 1 from ${itemMemories} where ${isIt})`,
      )
      .onConflictDoUpdate({
        target: [itemMemoryParts.project, itemMemoryParts.memory, itemMemoryParts.part],
        set: { digest, sizeBytes, keys: [...keys] },
      }),
    db
      .update(itemMemories)
      .set({ version: version + 1, updatedAtMs: Date.now() })
      .where(isIt)
      .returning({ name: itemMemories.name }),
  ]);
  return updated.length > 0;
}

/** Deletes a memory and returns the digests of its parts; null where there is none. */
export async function deleteItemMemory(db: ProjectDatabase, name: string): Promise<string[] | null> {
  const { project, memory, digest } = itemMemoryParts;
  const [parts, gone] = await db.batch([
    db
      .delete(itemMemoryParts)
      .where(and(eq(project, db.project), eq(memory, name)))
      .returning({ digest }),
    db.delete(itemMemories).where(isNamed(db, name)).returning({ name: itemMemories.name }),
  ]);
  return gone.length > 0 ? parts.map((part) => part.digest) : null;
}

/** True if an artifact is a part of a memory of this project; null: of any project. */
export async function isMemoryPart(db: Database, digest: string, project: string | null): Promise<boolean> {
  const [row] = await db
    .select({ memory: itemMemoryParts.memory })
    .from(itemMemoryParts)
    .where(and(eq(itemMemoryParts.digest, digest), project === null ? undefined : eq(itemMemoryParts.project, project)))
    .limit(1);
  return row !== undefined;
}

const OF_MEMORY = sql`${itemMemoryParts.project} = ${itemMemories.project}
  and ${itemMemoryParts.memory} = ${itemMemories.name}`;

const described = {
  name: itemMemories.name,
  spec: itemMemories.spec,
  version: itemMemories.version,
  createdAtMs: itemMemories.createdAtMs,
  updatedAtMs: itemMemories.updatedAtMs,
  items: sql<number>`(select coalesce(sum(json_array_length(keys)), 0) from ${itemMemoryParts} where ${OF_MEMORY})`,
  sizeBytes: sql<number>`(select coalesce(sum(size_bytes), 0) from ${itemMemoryParts} where ${OF_MEMORY})`,
};

function toItemMemory(row: {
  spec: ItemMemorySpec;
  version: number;
  createdAtMs: number;
  updatedAtMs: number;
  items: number;
  sizeBytes: number;
}): ItemMemory {
  const { spec, version, items, sizeBytes } = row;
  const times = { createdAt: toInstant(row.createdAtMs), updatedAt: toInstant(row.updatedAtMs) };
  return ItemMemory.parse({ ...spec, items, sizeBytes, version, ...times });
}
