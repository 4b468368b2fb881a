import { createHash } from "node:crypto";
import { z } from "zod";
import type { StoredObject } from "../../protocol/service/transfer.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";

/**
 * The file of an export: gzip of lines of JSON. The head; then for each table a mark and its rows as arrays; the
 * objects; and the end, without which the file is not whole.
 */

const Tally = z.object({ rows: z.number().int(), digest: z.string() });
export type Tally = z.infer<typeof Tally>;

export const ArchiveHead = z.object({
  kind: z.literal("millrace-export"),
  format: z.literal(1),
  exportId: z.string(),
  schemaVersion: z.string(),
  writtenAt: z.string(),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()), rows: z.number().int() })),
});
export type ArchiveHead = z.infer<typeof ArchiveHead>;

const TableMark = z.object({ kind: z.literal("table"), name: z.string() });

const ArchivedObject = z.object({
  kind: z.literal("object"),
  key: z.string(),
  contentType: z.string().nullable(),
  digest: z.string(),
  base64: z.string(),
});
export type ArchivedObject = z.infer<typeof ArchivedObject>;

/** Whether an archive has an object: one that an import can send in a request. */
export function isArchived({ sizeBytes }: Pick<StoredObject, "sizeBytes">): boolean {
  return sizeBytes <= LIMITS.artifactBytes;
}

export const ArchiveEnd = z.object({
  kind: z.literal("end"),
  tables: z.record(z.string(), Tally),
  objects: z.object({ count: z.number().int(), bytes: z.number().int() }),
});
export type ArchiveEnd = z.infer<typeof ArchiveEnd>;

/** Every line but those of rows. */
export const ArchiveLine = z.discriminatedUnion("kind", [ArchiveHead, TableMark, ArchivedObject, ArchiveEnd]);

/** Counts rows and sums up their digests, so that the order in which they came does not matter. */
export class RowTally {
  #rows = 0;
  #sum = 0n;

  /** Takes a row as its text: the first 64 bits of its SHA-256 are added, modulo 2⁶⁴. */
  add(line: string): void {
    this.#rows++;
    const digest = createHash("sha256").update(line).digest();
    this.#sum = BigInt.asUintN(64, this.#sum + digest.readBigUInt64BE());
  }

  read(): Tally {
    return { rows: this.#rows, digest: this.#sum.toString(16).padStart(16, "0") };
  }
}
