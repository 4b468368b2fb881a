import { and, asc, eq, gt, type SQL, sql } from "drizzle-orm";
import type { PageQuery } from "../../../protocol/wire/page.ts";
import {
  BUILT_IN_PROFILES,
  type Profile,
  type ProfileInput,
  type ProfileUpdate,
} from "../../../protocol/fleet/profile.ts";
import { cutPage, decodeCursor } from "../cursor.ts";
import type { ProjectDatabase } from "../database.ts";
import { toInstant } from "../../clock.ts";
import { roomFor } from "../quotas/quota-store.ts";
import { profiles } from "../schema.ts";

const builtIn: readonly Profile[] = BUILT_IN_PROFILES.map((input) => ({
  ...input,
  builtIn: true,
  version: 1,
  updatedAt: null,
}));

function toProfile(row: typeof profiles.$inferSelect): Profile {
  return { ...row.spec, builtIn: false, version: row.version, updatedAt: toInstant(row.updatedAtMs) };
}

function isNamed({ project }: ProjectDatabase, name: string): SQL {
  return and(eq(profiles.project, project), eq(profiles.name, name))!;
}

export async function findProfile(db: ProjectDatabase, name: string): Promise<Profile | null> {
  return findBuiltIn(name) ?? toFoundProfile(await selectProfile(db, name));
}

/** A profile that every project has. */
export function findBuiltIn(name: string): Profile | null {
  return builtIn.find((profile) => profile.name === name) ?? null;
}

/** Statement for a project's own profile. */
export function selectProfile(db: ProjectDatabase, name: string) {
  return db.select().from(profiles).where(isNamed(db, name));
}

/** The profile that `selectProfile` found. */
export function toFoundProfile([row]: readonly (typeof profiles.$inferSelect)[]): Profile | null {
  return row === undefined ? null : toProfile(row);
}

/** Every profile: the built-in ones, then the project's by name. */
export async function readAllProfiles(db: ProjectDatabase): Promise<Profile[]> {
  return toAllProfiles(await selectProfiles(db));
}

/** Statement for the project's own profiles by name. */
export function selectProfiles(db: ProjectDatabase) {
  return db.select().from(profiles).where(eq(profiles.project, db.project)).orderBy(asc(profiles.name));
}

/** The built-in profiles, and those that `selectProfiles` found. */
export function toAllProfiles(rows: readonly (typeof profiles.$inferSelect)[]): Profile[] {
  return [...builtIn, ...rows.map(toProfile)];
}

export async function listProfiles(
  db: ProjectDatabase,
  page: PageQuery,
): Promise<{ items: Profile[]; nextCursor: string | null }> {
  const after = page.cursor === undefined ? null : String(decodeCursor(page.cursor, 1)[0]);
  // The built-in profiles are on the first page, beyond its limit, so that cursors name only stored ones.
  const rows = await db
    .select()
    .from(profiles)
    .where(and(eq(profiles.project, db.project), after === null ? undefined : gt(profiles.name, after)))
    .orderBy(asc(profiles.name))
    .limit(page.limit + 1);
  const cut = cutPage(rows, page.limit, (row) => [row.name]);
  return { items: [...(after === null ? builtIn : []), ...cut.rows.map(toProfile)], nextCursor: cut.nextCursor };
}

/** Creates a profile, unless its name is taken or the project's quota is used up. */
export async function createProfile(db: ProjectDatabase, input: ProfileInput): Promise<Profile | "taken" | "full"> {
  if (builtIn.some((profile) => profile.name === input.name)) return "taken";
  const row = { project: db.project, name: input.name, spec: input, version: 1, updatedAtMs: Date.now() };
  const { meta } = await db.run(sql`
    insert into profiles (project, name, spec, version, updated_at_ms)
    select ${row.project}, ${row.name}, ${JSON.stringify(input)}, ${row.version}, ${row.updatedAtMs}
    where ${roomFor(db, "profiles")}
    on conflict do nothing`);
  if (meta.changes > 0) return toProfile(row);
  return (await findProfile(db, input.name)) === null ? "full" : "taken";
}

/** Replaces a profile if it still has `version`; null where it does not (or is gone). */
export async function updateProfile(
  db: ProjectDatabase,
  name: string,
  version: number,
  update: ProfileUpdate,
): Promise<Profile | null> {
  const [row] = await db
    .update(profiles)
    .set({ spec: { name, ...update }, version: version + 1, updatedAtMs: Date.now() })
    .where(and(isNamed(db, name), eq(profiles.version, version)))
    .returning();
  return row === undefined ? null : toProfile(row);
}

export async function deleteProfile(db: ProjectDatabase, name: string): Promise<boolean> {
  const gone = await db.delete(profiles).where(isNamed(db, name)).returning({ name: profiles.name });
  return gone.length > 0;
}
