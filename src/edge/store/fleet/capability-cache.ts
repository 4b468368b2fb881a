import { inArray, sql } from "drizzle-orm";
import type { Capabilities } from "../../../protocol/fleet/hardware.ts";
import { endTurn } from "../../turns.ts";
import { type Database, listOf } from "../database.ts";
import { runners } from "../schema.ts";

/** Characters of announced texts that an isolate keeps parsed, which takes some three times as many bytes. */
const KEPT_CHARACTERS = 2 ** 23;
/** Texts of one statement: of our runners, which announce some 60 KB, two megabytes; eight times as many at most. */
const READ_AT_ONCE = 32;

/** By runner, as of a version of its row, which changes with each announcement. */
const kept = new Map<string, { readonly version: number; readonly capabilities: Capabilities }>();
/** By text: most runners of a fleet announce the same kernels. */
const parsed = new Map<string, Capabilities>();
let characters = 0;

/**
 * Adds what runners announced to their rows, and leaves those out that announced nothing. A text is read where its row
 * has changed since, and parsed where no other runner has the same; texts have up to half a megabyte.
 */
export async function withCapabilities<Row extends { readonly id: string; readonly version: number }>(
  db: Database,
  rows: readonly Row[],
): Promise<(Row & { readonly capabilities: Capabilities })[]> {
  const known = new Map<string, Capabilities>();
  const unknown: string[] = [];
  for (const { id, version } of rows) {
    const found = kept.get(id);
    if (found?.version === version) known.set(id, found.capabilities);
    else unknown.push(id);
  }
  for (let from = 0; from < unknown.length; from += READ_AT_ONCE) {
    if (from > 0) await endTurn();
    for (const read of await readTexts(db, unknown.slice(from, from + READ_AT_ONCE))) known.set(...keep(read));
  }
  return rows.flatMap((row) => {
    const capabilities = known.get(row.id);
    return capabilities === undefined ? [] : [{ ...row, capabilities }];
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

function keep({ id, version, text }: Announced): [id: string, capabilities: Capabilities] {
  const capabilities = parsed.get(text) ?? (JSON.parse(text) as Capabilities);
  if (!parsed.has(text)) {
    if (characters + text.length > KEPT_CHARACTERS) forgetCapabilities();
    parsed.set(text, capabilities);
    characters += text.length;
  }
  kept.set(id, { version, capabilities });
  return [id, capabilities];
}

/** Forgets what runners announced, as a new isolate would. */
export function forgetCapabilities(): void {
  kept.clear();
  parsed.clear();
  characters = 0;
}
