import { DatabaseSync } from "node:sqlite";

/** Sorted values of all points of one sample in an edge's database, which may be open elsewhere. */
export function readStoredValues(file: string): number[] {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return db
      .prepare("select min from points order by min")
      .all()
      .map(({ min }) => min as number);
  } finally {
    db.close();
  }
}
