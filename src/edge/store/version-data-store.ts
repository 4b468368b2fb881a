import { eq } from "drizzle-orm";
import type { VersionData } from "../../protocol/model.ts";
import { openDatabase } from "./database.ts";
import { deleteUnnamed } from "./job-artifact-store.ts";
import { versionData } from "./schema.ts";

/** Notes what a version is measured on, whose bytes are stored; the file that was it before goes, unless something else has it. */
export async function setVersionData(
  { DB, ARTIFACTS }: { readonly DB: D1Database; readonly ARTIFACTS: R2Bucket },
  modelVersionId: string,
  data: VersionData,
): Promise<void> {
  const db = openDatabase(DB);
  const [before] = await db
    .select({ digest: versionData.digest })
    .from(versionData)
    .where(eq(versionData.modelVersionId, modelVersionId));
  const set = { ...data, createdAtMs: Date.now() };
  await db
    .insert(versionData)
    .values({ modelVersionId, ...set })
    .onConflictDoUpdate({ target: versionData.modelVersionId, set });
  if (before !== undefined && before.digest !== data.digest) await deleteUnnamed(DB, ARTIFACTS, [before.digest]);
}
