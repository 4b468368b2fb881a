import { and, desc, eq, lt, ne, not, type SQL, sql } from "drizzle-orm";
import { createId, idSchema } from "../../../protocol/wire/id.ts";
import { KernelDefinition, type KernelProgram } from "../../../protocol/kernels/kernel-definition.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import type { PageQuery } from "../../../protocol/wire/page.ts";
import type { Problem } from "../../../protocol/wire/problem.ts";
import type { ListedKernel, SubmittedKernel } from "../../../protocol/kernels/submitted-kernel.ts";
import type { DType } from "../../../protocol/wire/tensor.ts";
import { digestOf } from "../artifact-store.ts";
import { cutPage, decodeCursor } from "../cursor.ts";
import type { Database, ProjectDatabase } from "../database.ts";
import { toInstant } from "../../clock.ts";
import { kernels, standings } from "../schema.ts";

/** The one variant of a submitted kernel. */
export const SUBMITTED_VARIANT = "submitted";

const KernelId = idSchema("kernel");

/** True if a job's `kernel` names a submitted one. */
export function isKernelId(name: string): boolean {
  return KernelId.safeParse(name).success;
}

type Row = typeof kernels.$inferSelect;

function toKernel(row: Row): SubmittedKernel {
  return describeKernel(row, KernelDefinition.parse(JSON.parse(row.definition)));
}

type Facts = "id" | "ownerId" | "digest" | "reference" | "state" | "problem" | "checkJobId" | "dtype" | "createdAtMs";

function describeKernel(row: Pick<Row, Facts>, definition: KernelDefinition): SubmittedKernel {
  const { id, ownerId: owner, digest, reference, state, problem, checkJobId, dtype, createdAtMs } = row;
  return {
    id,
    owner,
    digest,
    reference,
    state,
    problem,
    checkJobId,
    dtype,
    definition,
    createdAt: toInstant(createdAtMs),
  };
}

function isKernel({ project }: ProjectDatabase, id: string): SQL {
  return and(eq(kernels.project, project), eq(kernels.id, id))!;
}

export interface NewKernel {
  readonly ownerId: string;
  readonly definition: KernelDefinition;
  readonly dtype: DType;
  /** Kernel that it competes with, or null. */
  readonly reference: string | null;
}

/**
 * Adds a kernel; an equal one of the same owner is returned as it is. Null where the owner's limit is reached, or the
 * submitted kernel that it competes with is gone.
 */
export async function addKernel(
  db: ProjectDatabase,
  { ownerId, definition, dtype, reference }: NewKernel,
): Promise<{ kernel: SubmittedKernel; created: boolean } | null> {
  const text = JSON.stringify(definition);
  const digest = await digestOf(new TextEncoder().encode(text).buffer as ArrayBuffer);
  const id = createId("kernel");
  const { name, description, dimensions } = definition;
  const rival = reference !== null && isKernelId(reference) ? reference : null;
  const { project } = db;
  const createdAtMs = Date.now();
  const [created] = await db.all<{ id: string }>(sql`
    insert into kernels
      (id, project, owner_id, digest, name, description, dtype, dimensions, reference, state, definition, created_at_ms)
    select ${id}, ${project}, ${ownerId}, ${digest}, ${name}, ${description}, ${dtype}, ${JSON.stringify(dimensions)},
      ${reference ?? id}, 'unchecked', ${text}, ${createdAtMs}
    where (select count(*) from kernels where project = ${project} and owner_id = ${ownerId}) < ${LIMITS.kernelsPerKey}
    and (${rival} is null or exists (select 1 from kernels where project = ${project} and id = ${rival}))
    on conflict do nothing returning id`);
  if (created !== undefined) {
    const fresh = { state: "unchecked", problem: null, checkJobId: null } as const;
    const row = { id, ownerId, digest, dtype, reference: reference ?? id, createdAtMs, ...fresh };
    return { kernel: describeKernel(row, definition), created: true };
  }
  const [row] = await db
    .select()
    .from(kernels)
    .where(and(eq(kernels.project, project), eq(kernels.ownerId, ownerId), eq(kernels.digest, digest)));
  return row === undefined ? null : { kernel: toKernel(row), created: false };
}

export async function findKernel(db: ProjectDatabase, id: string): Promise<SubmittedKernel | null> {
  const [row] = await db.select().from(kernels).where(isKernel(db, id));
  return row === undefined ? null : toKernel(row);
}

/** Program of a job's kernel, of any project; null where it, or the kernel that it competes with, is gone. */
export async function findProgram(db: Database, id: string): Promise<KernelProgram | null> {
  const kernel = await readDefinition(db, id);
  if (kernel === null) return null;
  const { definition, reference } = kernel;
  if (reference === id || !isKernelId(reference)) return { id, definition, reference: null };
  const found = await readDefinition(db, reference);
  return found && { id, definition, reference: { id: reference, definition: found.definition } };
}

async function readDefinition(db: Database, id: string): Promise<SubmittedKernel | null> {
  const [row] = await db.select().from(kernels).where(eq(kernels.id, id));
  return row === undefined ? null : toKernel(row);
}

/** Submitted kernels, newest first, without their programs. */
export async function listSubmittedKernels(
  db: ProjectDatabase,
  page: PageQuery,
): Promise<{ items: ListedKernel[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? undefined : lt(kernels.id, String(decodeCursor(page.cursor, 1)[0]));
  const { id, ownerId: owner, name, description, dtype, dimensions, reference, state, createdAtMs } = kernels;
  const found = await db
    .select({ id, owner, name, description, dtype, dimensions, reference, state, createdAtMs })
    .from(kernels)
    .where(and(eq(kernels.project, db.project), after))
    .orderBy(desc(kernels.id))
    .limit(page.limit + 1);
  const { rows, nextCursor } = cutPage(found, page.limit, (row) => [row.id]);
  const items = rows.map((row): ListedKernel => ({
    id: row.id,
    source: "submitted",
    name: row.name,
    description: row.description,
    owner: row.owner,
    reference: row.reference,
    state: row.state,
    dimensions: row.dimensions,
    dtypes: [row.dtype],
    variants: [SUBMITTED_VARIANT],
    createdAt: toInstant(row.createdAtMs),
  }));
  return { items, nextCursor };
}

export async function setCheckJob(db: ProjectDatabase, id: string, checkJobId: string): Promise<void> {
  await db.update(kernels).set({ checkJobId }).where(isKernel(db, id));
}

/** A run of the kernel was correct: it is valid from now on. */
export async function markKernelValid(db: ProjectDatabase, id: string): Promise<void> {
  await db.update(kernels).set({ state: "valid", problem: null }).where(isKernel(db, id));
}

/**
 * Records the problem of a failed run, unless another run was correct: what fits one device or shape may not fit the
 * next.
 */
export async function markKernelInvalid(db: ProjectDatabase, id: string, problem: Problem): Promise<void> {
  await db
    .update(kernels)
    .set({ state: "invalid", problem })
    .where(and(isKernel(db, id), ne(kernels.state, "valid")));
}

/** Deletes a kernel and its standings; false where others compete with it, or it does not exist. */
export async function deleteKernel(db: ProjectDatabase, id: string): Promise<boolean> {
  const isRivalled = sql`exists (select 1 from kernels where reference = ${id} and id <> ${id})`;
  const isThere = sql`exists (select 1 from kernels where id = ${id})`;
  const [gone] = await db.batch([
    db
      .delete(kernels)
      .where(and(isKernel(db, id), not(isRivalled)))
      .returning({ id: kernels.id }),
    db.delete(standings).where(and(eq(standings.project, db.project), eq(standings.kernel, id), not(isThere))),
  ]);
  return gone.length > 0;
}
