import type { Model } from "../../protocol/model.ts";
import type { Env } from "../config.ts";
import { readStoredModel } from "../onnx/read-stored-model.ts";
import { openDatabase } from "../store/database.ts";
import { learnSummary } from "../store/summary-store.ts";

/** Digests that this isolate has begun with: what cannot be counted is not read with every request. */
const begun = new Set<string>();

/**
 * Counts one file of a model that was stored before anybody counted, of the latest versions first. For behind a reply:
 * whoever reads the model next sees it. Files that would be refused today stay as they are.
 */
export async function countOldFile(env: Env, { versions }: Model): Promise<void> {
  const variants = versions.toReversed().flatMap((version) => version.variants);
  const uncounted = variants.find(({ summary, digest }) => summary === null && !begun.has(digest));
  if (uncounted === undefined) return;
  const { digest } = uncounted;
  begun.add(digest);
  const file = await readStoredModel(env.ARTIFACTS, digest);
  if (file !== null) await learnSummary(openDatabase(env.DB), digest, file.summary);
}
