import { eq } from "drizzle-orm";
import { createId } from "../../protocol/wire/id.ts";
import type { Transfer, TransferInput } from "../../protocol/service/transfer.ts";
import { openDatabase } from "./database.ts";
import { transfers } from "./schema.ts";
import { rowsOf, STORED_TABLES } from "./stored-tables.ts";

/** Idle time after which an export has ended. */
const LAPSE_MS = 600_000;
/** Tables in which a new database has rows: an importer has a key. */
const NEVER_EMPTY = new Set(["keys", "history_state", "sqlite_sequence"]);

/** Data of a transfer for its pages. */
export interface OpenTransfer {
  readonly kind: "export" | "import";
  readonly upTo: Readonly<Record<string, number>>;
}

type Counted = { readonly rows: number; readonly last: number | null };

/** Row counts of each table and the last numbers, as of one moment, and the database's migration. */
async function describeDatabase(
  binding: D1Database,
): Promise<Omit<Transfer, "id" | "kind"> & Pick<OpenTransfer, "upTo">> {
  const [migrated, ...counted] = await binding.batch<Counted & { version: string }>([
    binding.prepare("select name as version from d1_migrations order by id desc limit 1"),
    ...STORED_TABLES.map((table) =>
      binding.prepare(
        `select count(*) as rows, ${table.isCounted ? `max(${table.key.join()})` : "null"} as last from ${rowsOf(table)}`,
      ),
    ),
  ]);
  const found = STORED_TABLES.map((table, index) => ({
    table,
    ...(counted[index]?.results[0] ?? { rows: 0, last: 0 }),
  }));
  return {
    schemaVersion: migrated?.results[0]?.version ?? "none",
    tables: found.map(({ table: { name, columns }, rows }) => ({ name, columns: [...columns], rows })),
    upTo: Object.fromEntries(
      found.filter(({ table }) => table.isCounted).map(({ table, last }) => [table.name, last ?? 0]),
    ),
  };
}

/** Reason why a transfer cannot begin. */
export interface Refusal {
  readonly reason: string;
}

/** Begins a transfer; an interrupted import is found again by its export. */
export async function beginTransfer(
  binding: D1Database,
  input: TransferInput,
  nowMs: number,
): Promise<Transfer | Refusal> {
  const lapsed = binding.prepare("delete from transfers where kind = 'export' and touched_at_ms < ?1");
  await lapsed.bind(nowMs - LAPSE_MS).run();
  const { upTo, ...described } = await describeDatabase(binding);
  const [open] = await openDatabase(binding).select().from(transfers).where(eq(transfers.kind, "import"));
  const isSame = open !== undefined && input.kind === "import" && open.exportId === input.exportId;
  if (open !== undefined && input.kind === "import" && !isSame)
    return { reason: `The import ${open.id} is under way: end it first.` };
  if (input.kind === "import") {
    const refusal = refuseImport(input, described, isSame);
    if (refusal !== null) return refusal;
  }
  const id = isSame ? open.id : createId("transfer", nowMs);
  const exportId = input.kind === "import" ? input.exportId : null;
  await openDatabase(binding)
    .insert(transfers)
    .values({ id, kind: input.kind, exportId, upTo, touchedAtMs: nowMs })
    .onConflictDoUpdate({ target: transfers.id, set: { touchedAtMs: nowMs } });
  return { id, kind: input.kind, ...described };
}

function refuseImport(
  { schemaVersion, into }: Extract<TransferInput, { kind: "import" }>,
  database: Pick<Transfer, "schemaVersion" | "tables">,
  isResumed: boolean,
): Refusal | null {
  if (schemaVersion !== database.schemaVersion) {
    return { reason: `The export is of the schema ${schemaVersion}, and this database has ${database.schemaVersion}.` };
  }
  if (into === "any" || isResumed) return null;
  const filled = database.tables.filter(({ name, rows }) => rows > 0 && !NEVER_EMPTY.has(name));
  if (filled.length === 0) return null;
  return {
    reason: `The database is not empty: it has ${filled.map(({ name, rows }) => `${rows} ${name}`).join(", ")}.`,
  };
}

/** An open transfer, which this call keeps open; null where there is none of that id and kind. */
export async function touchTransfer(
  binding: D1Database,
  id: string,
  kinds: readonly OpenTransfer["kind"][],
  nowMs: number,
): Promise<OpenTransfer | null> {
  const row = await binding
    .prepare(
      `update transfers set touched_at_ms = ?2 where id = ?1 and kind in (select value from json_each(?3))
       and (kind = 'import' or touched_at_ms >= ?4) returning kind, up_to as upTo`,
    )
    .bind(id, nowMs, JSON.stringify(kinds), nowMs - LAPSE_MS)
    .first<{ kind: OpenTransfer["kind"]; upTo: string }>();
  return row === null ? null : { kind: row.kind, upTo: JSON.parse(row.upTo) };
}

/** Ends a transfer; false where there is none of that id. */
export async function endTransfer(binding: D1Database, id: string): Promise<boolean> {
  const { meta } = await binding.prepare("delete from transfers where id = ?1").bind(id).run();
  return meta.changes === 1;
}

/** True while a transfer is running, so that rows must not change. */
export async function isTransferring(binding: D1Database, nowMs: number): Promise<boolean> {
  const open = await binding
    .prepare("select 1 from transfers where kind = 'import' or touched_at_ms >= ?1 limit 1")
    .bind(nowMs - LAPSE_MS)
    .first();
  return open !== null;
}
