import { and, eq, isNull } from "drizzle-orm";
import type { ModelSummary } from "../../protocol/model.ts";
import type { Database } from "./database.ts";
import { modelVariants, modelVersions } from "./schema.ts";

/** Notes what a file is made of wherever it was stored before anybody counted: the same bytes are the same network. */
export async function learnSummary(db: Database, digest: string, summary: ModelSummary): Promise<void> {
  const uncounted = (table: typeof modelVersions | typeof modelVariants) =>
    and(eq(table.digest, digest), isNull(table.summary));
  await db.batch([
    db.update(modelVersions).set({ summary }).where(uncounted(modelVersions)),
    db.update(modelVariants).set({ summary }).where(uncounted(modelVariants)),
  ]);
}
