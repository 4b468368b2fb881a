import { and, eq, isNull, or, sql } from "drizzle-orm";
import type { RegistrationInput } from "../../../protocol/fleet/runner.ts";
import { createId } from "../../../protocol/wire/id.ts";
import { toInstant } from "../../clock.ts";
import { logFailure } from "../../log-failure.ts";
import { type Database, openDatabase, type ProjectDatabase } from "../database.ts";
import { isProjectOpen } from "../project-store.ts";
import { hasRoom, roomFor } from "../quotas/quota-store.ts";
import { registrationTokens, runners } from "../schema.ts";
import { createSecret, hashSecret } from "../secret.ts";
import { isOwnRunner } from "./runner-store.ts";

/** A token whose runner will belong to the caller's project; null where the project's quota is used up. */
export async function createRegistrationToken(
  db: ProjectDatabase,
  ttlMs: number,
): Promise<{ id: string; token: string; expiresAt: string } | null> {
  const token = createSecret("token");
  const id = createId("token");
  const expiresAtMs = Date.now() + ttlMs;
  const { meta } = await db.run(sql`
    insert into registration_tokens (id, project, hash, expires_at_ms)
    select ${id}, ${db.project}, ${await hashSecret(token)}, ${expiresAtMs} where ${roomFor(db, "registrationTokens")}`);
  return meta.changes === 0 ? null : { id, token, expiresAt: toInstant(expiresAtMs) };
}

export type RegistrationOutcome =
  | { kind: "registered"; runnerId: string; credential: string }
  | { kind: "full"; project: string }
  | { kind: "unknown" | "expired" | "used" };

/**
 * Spends a token on a new runner. The token is claimed and the runner written in one transaction. One that was made while
 * its project closed counts as expired. A project whose quota of runners is used up keeps its token.
 */
export async function registerRunner(binding: D1Database, input: RegistrationInput): Promise<RegistrationOutcome> {
  const hash = await hashSecret(input.token);
  const runnerId = createId("runner");
  const credential = createSecret("credential");
  const nowMs = Date.now();
  const [claim] = await binding.batch([
    binding
      .prepare(
        `update registration_tokens set used_by_runner_id = ?2
         where hash = ?1 and used_by_runner_id is null and expires_at_ms > ?3
           and not exists (select 1 from projects where name = registration_tokens.project and closed_at_ms is not null)
           and ${hasRoom("runners", "registration_tokens.project")}`,
      )
      .bind(hash, runnerId, nowMs),
    binding
      .prepare(
        `insert into runners (id, project, name, credential_hash, labels, ephemeral, created_at_ms)
         select ?2, project, ?3, ?4, ?5, ?6, ?7 from registration_tokens where hash = ?1 and used_by_runner_id = ?2`,
      )
      .bind(
        hash,
        runnerId,
        input.name,
        await hashSecret(credential),
        JSON.stringify(input.labels),
        Number(input.ephemeral ?? false),
        nowMs,
      ),
  ]);
  if (claim?.meta.changes === 1) return { kind: "registered", runnerId, credential };
  const db = openDatabase(binding);
  const [token] = await db.select().from(registrationTokens).where(eq(registrationTokens.hash, hash));
  if (token === undefined) return { kind: "unknown" };
  if (token.usedByRunnerId !== null) return { kind: "used" };
  const isGood = token.expiresAtMs > nowMs && (await isProjectOpen(db, token.project));
  return isGood ? { kind: "full", project: token.project } : { kind: "expired" };
}

/** Id and project of the runner with this credential. A rotated credential takes effect at its first use. */
export async function findRunnerByCredentialHash(
  db: Database,
  hash: string,
): Promise<{ id: string; project: string } | null> {
  const [row] = await db
    .select({ id: runners.id, project: runners.project, next: runners.nextCredentialHash })
    .from(runners)
    .where(
      and(isNull(runners.removedAtMs), or(eq(runners.credentialHash, hash), eq(runners.nextCredentialHash, hash))),
    );
  if (row === undefined) return null;
  if (row.next === hash) {
    // Both work until the next use, if the database takes no writes just now.
    const settled = db.update(runners).set({ credentialHash: hash, nextCredentialHash: null });
    // Not of a runner that was removed meanwhile.
    const isThis = and(eq(runners.id, row.id), eq(runners.nextCredentialHash, hash));
    await settled
      .where(isThis)
      .run()
      .catch((error: unknown) => logFailure("rotation-not-settled", error, { runnerId: row.id }));
  }
  return { id: row.id, project: row.project };
}

export async function rotateCredential(db: ProjectDatabase, id: string): Promise<string | null> {
  const credential = createSecret("credential");
  const changed = await db
    .update(runners)
    .set({ nextCredentialHash: await hashSecret(credential), version: sql`${runners.version} + 1` })
    .where(isOwnRunner(db, id))
    .returning({ id: runners.id });
  return changed.length > 0 ? credential : null;
}
