import { and, count, eq, isNotNull } from "drizzle-orm";
import { LIMITS } from "../../protocol/limits.ts";
import type { MeasuredFidelity } from "../../protocol/measured-fidelity.ts";
import type { ModelSummary } from "../../protocol/model.ts";
import type { Recipe } from "../../protocol/recipe.ts";
import type { Database } from "./database.ts";
import { modelVariants } from "./schema.ts";

interface VariantInput {
  readonly modelVersionId: string;
  readonly name: string;
  readonly digest: string;
  readonly sizeBytes: number;
  readonly fidelity: number | null;
  /** What its file is made of, where somebody counted. */
  readonly summary?: ModelSummary;
  /** Of one that a job made. */
  readonly recipe?: Recipe;
  readonly measured?: MeasuredFidelity;
  readonly jobId?: string;
}

/**
 * Adds a file to a version. The same file under the same name gives what is there; `taken` where the name
 * is another file's, `full` where the version has all that it may have.
 */
export async function addVariant(db: Database, input: VariantInput): Promise<"created" | "there" | "taken" | "full"> {
  const ofVersion = eq(modelVariants.modelVersionId, input.modelVersionId);
  const compareKnown = async () => {
    const [known] = await db
      .select({ digest: modelVariants.digest })
      .from(modelVariants)
      .where(and(ofVersion, eq(modelVariants.name, input.name)));
    if (known === undefined) return null;
    return known.digest === input.digest ? "there" : "taken";
  };
  const before = await compareKnown();
  if (before !== null) return before;
  const [stored] = await db.select({ n: count() }).from(modelVariants).where(ofVersion);
  if ((stored?.n ?? 0) + 1 >= LIMITS.variantsPerVersion) return "full";
  const created = await db
    .insert(modelVariants)
    .values({ ...input, createdAtMs: Date.now() })
    .onConflictDoNothing()
    .returning();
  if (created.length > 0) return "created";
  // Somebody else was faster, with the same file perhaps.
  return (await compareKnown()) ?? "taken";
}

/** What a job measured anew of a variant that a job made; what an uploader said of his stays. */
export async function noteFidelity(
  db: Database,
  { modelVersionId, name, digest }: Pick<VariantInput, "modelVersionId" | "name" | "digest">,
  { measured, jobId }: { readonly measured: MeasuredFidelity; readonly jobId: string },
): Promise<void> {
  const { modelVersionId: ofVersion, name: named, digest: ofFile, recipe } = modelVariants;
  await db
    .update(modelVariants)
    .set({ fidelity: measured.value, measured, jobId })
    .where(and(eq(ofVersion, modelVersionId), eq(named, name), eq(ofFile, digest), isNotNull(recipe)));
}
