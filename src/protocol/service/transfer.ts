import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { Digest, idSchema } from "../wire/id.ts";
import { LIMITS } from "../wire/limits.ts";
import { pageOf } from "../wire/page.ts";

/** Rows as JSON arrays, one a line. */
export const ROWS_MEDIA_TYPE = "application/x-ndjson";

/** Bytes of an object as they are. */
export const OBJECT_MEDIA_TYPE = "application/octet-stream";

const SchemaVersion = z
  .string()
  .min(1)
  .max(128)
  .meta({ description: "The last migration that the database has", example: "0006_the_memory.sql" });

export const TransferInput = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("export") }),
    z.strictObject({
      kind: z.literal("import"),
      exportId: idSchema("transfer").meta({ description: "Of the export that is read in" }),
      schemaVersion: SchemaVersion,
      into: z
        .enum(["empty", "any"])
        .default("empty")
        .meta({ description: "`any`: into a database that has other rows; those of the same keys are replaced" }),
    }),
  ])
  .meta({ id: "TransferInput" });
export type TransferInput = z.infer<typeof TransferInput>;

export const TransferTable = z
  .object({ name: z.string(), columns: z.array(z.string()), rows: z.number().int() })
  .meta({ id: "TransferTable" });
export type TransferTable = z.infer<typeof TransferTable>;

/** A way of the whole database out or in; while one is open, the history is not tended. */
export const Transfer = z
  .object({
    id: idSchema("transfer"),
    kind: z.enum(["export", "import"]),
    schemaVersion: SchemaVersion,
    tables: z
      .array(TransferTable)
      .meta({ description: "In an order in which they can be filled: what a row refers to stands before it" }),
  })
  .meta({ id: "Transfer" });
export type Transfer = z.infer<typeof Transfer>;

const Cursor = z.string().max(4_096).optional().meta({ description: "`nextCursor` of the page before" });

const TransferPageQuery = z.strictObject({ cursor: Cursor });

/** The last line of a page of rows. */
export const RowsEnd = z.object({ nextCursor: z.string().nullable() });

const ObjectQuery = z.strictObject({
  key: z.string().min(1).max(1_024).meta({ description: "Key of the object in the bucket" }),
});

const ObjectInputQuery = ObjectQuery.extend({
  digest: Digest.meta({ description: "Of the body, as `sha256:` and hexadecimal digits" }),
  contentType: z.string().min(1).max(128).optional().meta({ description: "Media type that it is kept with" }),
});

/** A file beside the database: a model, a trace, samples. */
export const StoredObject = z
  .object({ key: z.string(), sizeBytes: z.number().int(), contentType: z.string().nullable() })
  .meta({ id: "StoredObject" });
export type StoredObject = z.infer<typeof StoredObject>;
const StoredObjectPage = pageOf(StoredObject, "StoredObject");

const ImportedRows = z.object({ rows: z.number().int() }).meta({ id: "ImportedRows" });

const byId = z.object({ id: idSchema("transfer") });
const byTable = byId.extend({
  table: z
    .string()
    .regex(/^[a-z_]{1,64}$/, "must be the name of a table")
    .meta({ description: "Name of a table of the database" }),
});

/** The whole database out of one edge and into another, secrets among it. */
export const transferEndpoints = {
  beginTransfer: defineEndpoint({
    method: "post",
    path: "/v1/transfers",
    tag: "transfers",
    summary: "Begin an export of everything, or an import",
    description:
      "An export that nobody reads from ends by itself after ten minutes. Begun again, an import goes on where it was.",
    access: "admin",
    isOperators: true,
    body: TransferInput,
    reply: { status: 201, schema: Transfer },
    problems: ["conflict"],
  }),
  endTransfer: defineEndpoint({
    method: "delete",
    path: "/v1/transfers/{id}",
    tag: "transfers",
    summary: "End an export or import: the history is tended again",
    access: "admin",
    isOperators: true,
    params: byId,
    reply: { status: 204 },
    problems: ["not-found"],
  }),
  exportRows: defineEndpoint({
    method: "get",
    path: "/v1/transfers/{id}/tables/{table}",
    tag: "transfers",
    summary: "The next rows of a table by its key, as JSON arrays; the last line is an object with `nextCursor`",
    access: "admin",
    isOperators: true,
    params: byTable,
    query: TransferPageQuery,
    reply: { status: 200, mediaType: ROWS_MEDIA_TYPE },
    problems: ["not-found"],
  }),
  importRows: defineEndpoint({
    method: "post",
    path: "/v1/transfers/{id}/tables/{table}",
    tag: "transfers",
    summary: "Store rows of a table, all or none; sent again they change nothing",
    access: "admin",
    isOperators: true,
    params: byTable,
    rawBody: { mediaTypes: [ROWS_MEDIA_TYPE], maxBytes: LIMITS.transferPageBytes },
    repeatable: "as-it-is",
    reply: { status: 200, schema: ImportedRows },
    problems: ["not-found", "conflict"],
  }),
  listObjects: defineEndpoint({
    method: "get",
    path: "/v1/transfers/{id}/objects",
    tag: "transfers",
    summary: "List the files beside the database, by key",
    access: "admin",
    isOperators: true,
    params: byId,
    query: TransferPageQuery,
    reply: { status: 200, schema: StoredObjectPage },
    problems: ["not-found"],
  }),
  exportObject: defineEndpoint({
    method: "get",
    path: "/v1/transfers/{id}/object",
    tag: "transfers",
    summary: "A file beside the database",
    access: "admin",
    isOperators: true,
    params: byId,
    query: ObjectQuery,
    reply: { status: 200, mediaType: OBJECT_MEDIA_TYPE },
    problems: ["not-found"],
  }),
  importObject: defineEndpoint({
    method: "put",
    path: "/v1/transfers/{id}/object",
    tag: "transfers",
    summary: "Store a file beside the database, if its bytes have the digest",
    access: "admin",
    isOperators: true,
    params: byId,
    query: ObjectInputQuery,
    rawBody: { mediaTypes: [OBJECT_MEDIA_TYPE], maxBytes: LIMITS.artifactBytes },
    reply: { status: 200, schema: StoredObject },
    problems: ["not-found"],
  }),
} as const;
