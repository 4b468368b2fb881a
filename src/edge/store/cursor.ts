import { and, type Column, eq, lt, or, type SQL } from "drizzle-orm";
import { z } from "zod";
import { ProblemError } from "../../protocol/wire/problem.ts";

const Cursor = z.array(z.union([z.string(), z.number()])).max(8);

/** Cursor of a page's end: the sort key of its last row, opaque to callers. */
export function encodeCursor(key: (string | number)[]): string {
  return btoa(JSON.stringify(key)).replaceAll("=", "");
}

/** Sort key of a cursor with `length` parts; anything else is the caller's error. */
export function decodeCursor(cursor: string, length: number): (string | number)[] {
  try {
    const key = Cursor.parse(JSON.parse(atob(cursor)));
    if (key.length === length) return key;
  } catch {
    // Falls through to the same error for every malformed cursor.
  }
  throw wrongCursor();
}

/**
 * Condition for the rows after a cursor, in a list by time and then id, newest first; undefined without a cursor.
 * Throws `invalid-request` for a cursor of another list.
 */
export function behindCursor(cursor: string | undefined, atMs: Column, id: Column): SQL | undefined {
  if (cursor === undefined) return undefined;
  const [lastMs, lastId] = decodeCursor(cursor, 2);
  return or(lt(atMs, Number(lastMs)), and(eq(atMs, Number(lastMs)), lt(id, String(lastId))));
}

export function wrongCursor(): ProblemError {
  return new ProblemError("invalid-request", "The cursor is not one that this list gave.", {
    errors: [{ pointer: "query/cursor", message: "must be the nextCursor of a page of this list" }],
  });
}

/** Cuts `limit + 1` rows to a page, with the cursor of the next one. */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  sortKey: (row: Row) => (string | number)[],
): { rows: readonly Row[]; nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = rows.length > limit && last !== undefined ? encodeCursor(sortKey(last)) : null;
  return { rows: page, nextCursor };
}
