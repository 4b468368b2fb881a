import { and, asc, eq, gt, sql } from "drizzle-orm";
import { ItemMemory, type ItemMemorySpec } from "../../protocol/item-memory.ts";
import { LIMITS } from "../../protocol/limits.ts";
import type { PageQuery } from "../../protocol/page.ts";
import { cutPage, decodeCursor } from "./cursor.ts";
import { type Database, openDatabase } from "./database.ts";
import { toInstant } from "./instant.ts";
import { itemMemories, itemMemoryParts } from "./schema.ts";

/** Items of a memory that lie in one artifact: rows of float32, padded to four numbers. */
export interface MemoryPart {
  readonly part: number;
  readonly digest: string;
  readonly sizeBytes: number;
  readonly keys: readonly string[];
}

/** A memory with everything that a search needs. */
export interface StoredMemory {
  readonly spec: ItemMemorySpec;
  readonly version: number;
  readonly parts: readonly MemoryPart[];
}

/** Creates a memory, unless its name is taken or there are as many as there may be. */
export async function createItemMemory(
  binding: D1Database,
  spec: ItemMemorySpec,
): Promise<ItemMemory | "taken" | "full"> {
  const nowMs = Date.now();
  const { meta } = await binding
    .prepare(
      `insert into item_memories (name, spec, version, created_at_ms, updated_at_ms) select ?1, ?2, 1, ?3, ?3
       where (select count(*) from item_memories) < ?4 on conflict do nothing`,
    )
    .bind(spec.name, JSON.stringify(spec), nowMs, LIMITS.itemMemories)
    .run();
  const found = await describeItemMemory(openDatabase(binding), spec.name);
  if (meta.changes > 0 && found !== null) return found;
  return found === null ? "full" : "taken";
}

/** What is told of a memory; null where there is none. */
export async function describeItemMemory(db: Database, name: string): Promise<ItemMemory | null> {
  const [row] = await db.select(described).from(itemMemories).where(eq(itemMemories.name, name));
  return row === undefined ? null : toItemMemory(row);
}

/** Memories by name. Throws `invalid-request` for a cursor that is not of this list. */
export async function listItemMemories(
  db: Database,
  { cursor, limit }: PageQuery,
): Promise<{ items: ItemMemory[]; nextCursor: string | null }> {
  const after = cursor === undefined ? undefined : gt(itemMemories.name, String(decodeCursor(cursor, 1)[0]));
  const found = await db
    .select(described)
    .from(itemMemories)
    .where(after)
    .orderBy(asc(itemMemories.name))
    .limit(limit + 1);
  const { rows, nextCursor } = cutPage(found, limit, (row) => [row.name]);
  return { items: rows.map(toItemMemory), nextCursor };
}

/** A memory with its parts in order; null where there is none. */
export async function readItemMemory(db: Database, name: string): Promise<StoredMemory | null> {
  const [[row], parts] = await db.batch([
    db.select().from(itemMemories).where(eq(itemMemories.name, name)),
    db.select().from(itemMemoryParts).where(eq(itemMemoryParts.memory, name)).orderBy(asc(itemMemoryParts.part)),
  ]);
  return row === undefined ? null : { spec: row.spec, version: row.version, parts };
}

/** Puts a part and makes a new version of the memory, if it still has that of before; false where it has not. */
export async function savePart(
  binding: D1Database,
  { spec: { name }, version }: StoredMemory,
  { part, digest, sizeBytes, keys }: MemoryPart,
): Promise<boolean> {
  const guard = "exists (select 1 from item_memories where name = ?1 and version = ?2)";
  const [, updated] = await binding.batch([
    binding
      .prepare(
        `insert into item_memory_parts (memory, part, digest, size_bytes, keys)
         select ?1, ?3, ?4, ?5, ?6 where ${guard}
         on conflict do update set digest = excluded.digest, size_bytes = excluded.size_bytes, keys = excluded.keys`,
      )
      .bind(name, version, part, digest, sizeBytes, JSON.stringify(keys)),
    binding
      .prepare("update item_memories set version = version + 1, updated_at_ms = ?3 where name = ?1 and version = ?2")
      .bind(name, version, Date.now()),
  ]);
  return updated?.meta.changes === 1;
}

/** Deletes a memory and gives the digests of its parts; null where there is none. */
export async function deleteItemMemory(binding: D1Database, name: string): Promise<string[] | null> {
  const [parts, gone] = await binding.batch<{ digest: string }>([
    binding.prepare("delete from item_memory_parts where memory = ?1 returning digest").bind(name),
    binding.prepare("delete from item_memories where name = ?1").bind(name),
  ]);
  return gone?.meta.changes === 1 ? (parts?.results ?? []).map(({ digest }) => digest) : null;
}

/** Whether an artifact is a part of a memory. */
export async function isMemoryPart(db: Database, digest: string): Promise<boolean> {
  const [row] = await db
    .select({ memory: itemMemoryParts.memory })
    .from(itemMemoryParts)
    .where(and(eq(itemMemoryParts.digest, digest)))
    .limit(1);
  return row !== undefined;
}

const described = {
  name: itemMemories.name,
  spec: itemMemories.spec,
  version: itemMemories.version,
  createdAtMs: itemMemories.createdAtMs,
  updatedAtMs: itemMemories.updatedAtMs,
  items: sql<number>`(select coalesce(sum(json_array_length(keys)), 0) from item_memory_parts where memory = ${itemMemories.name})`,
  sizeBytes: sql<number>`(select coalesce(sum(size_bytes), 0) from item_memory_parts where memory = ${itemMemories.name})`,
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
