import { z } from "@hono/zod-openapi";
import { idSchema } from "./id.ts";
import { pageOf } from "./page.ts";

/** Rows as JSON arrays, one a line. */
export const ROWS_MEDIA_TYPE = "application/x-ndjson";

/** Bytes of an object as they are. */
export const OBJECT_MEDIA_TYPE = "application/octet-stream";

const SchemaVersion = z
  .string()
  .min(1)
  .max(128)
  .openapi({ description: "The last migration that the database has", example: "0006_the_memory.sql" });

export const TransferInput = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("export") }),
    z.strictObject({
      kind: z.literal("import"),
      exportId: idSchema("transfer").openapi({ description: "Of the export that is read in" }),
      schemaVersion: SchemaVersion,
      into: z
        .enum(["empty", "any"])
        .default("empty")
        .openapi({ description: "`any`: into a database that has other rows; those of the same keys are replaced" }),
    }),
  ])
  .openapi("TransferInput");
export type TransferInput = z.infer<typeof TransferInput>;

export const TransferTable = z
  .object({ name: z.string(), columns: z.array(z.string()), rows: z.number().int() })
  .openapi("TransferTable");
export type TransferTable = z.infer<typeof TransferTable>;

/** A way of the whole database out or in; while one is open, the history is not tended. */
export const Transfer = z
  .object({
    id: idSchema("transfer"),
    kind: z.enum(["export", "import"]),
    schemaVersion: SchemaVersion,
    tables: z
      .array(TransferTable)
      .openapi({ description: "In an order in which they can be filled: what a row refers to stands before it" }),
  })
  .openapi("Transfer");
export type Transfer = z.infer<typeof Transfer>;

const Cursor = z.string().max(4_096).optional().openapi({ description: "`nextCursor` of the page before" });

export const TransferPageQuery = z.object({ cursor: Cursor });

/** The last line of a page of rows. */
export const RowsEnd = z.object({ nextCursor: z.string().nullable() });

export const ObjectQuery = z.object({
  key: z.string().min(1).max(1_024).openapi({ description: "Key of the object in the bucket" }),
});

export const ObjectInputQuery = ObjectQuery.extend({
  digest: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 hexadecimal digits")
    .openapi({ description: "Of the body, as `sha256:` and hexadecimal digits" }),
  contentType: z.string().min(1).max(128).optional().openapi({ description: "Media type that it is kept with" }),
});

/** A file beside the database: a model, a trace, samples. */
export const StoredObject = z
  .object({ key: z.string(), sizeBytes: z.number().int(), contentType: z.string().nullable() })
  .openapi("StoredObject");
export type StoredObject = z.infer<typeof StoredObject>;
export const StoredObjectPage = pageOf(StoredObject, "StoredObject");

export const ImportedRows = z.object({ rows: z.number().int() }).openapi("ImportedRows");
