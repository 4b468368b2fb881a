import type { Env } from "../config.ts";
import { openDatabase } from "../store/database.ts";
import { findProjectOfPlacement } from "../store/owner-store.ts";

const KEPT = 10_000;
/** A placement stays with its project: what was read once holds, and a request that measures waits for no database. */
const known = new Map<string, string>();

/** Whose model a placement is of; null where the runner has none of that id. */
export async function projectOfPlacement(env: Env, runnerId: string, id: string): Promise<string | null> {
  const place = `${runnerId} ${id}`;
  const found = known.get(place) ?? (await findProjectOfPlacement(openDatabase(env.DB), runnerId, id));
  if (found === null) return null;
  if (known.size >= KEPT) known.clear();
  known.set(place, found);
  return found;
}
