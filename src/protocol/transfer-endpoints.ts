import { z } from "@hono/zod-openapi";
import { defineEndpoint } from "./endpoint.ts";
import { idSchema } from "./id.ts";
import { LIMITS } from "./limits.ts";
import {
  ImportedRows,
  OBJECT_MEDIA_TYPE,
  ObjectInputQuery,
  ObjectQuery,
  ROWS_MEDIA_TYPE,
  StoredObject,
  StoredObjectPage,
  Transfer,
  TransferInput,
  TransferPageQuery,
} from "./transfer.ts";

const byId = z.object({ id: idSchema("transfer") });
const byTable = byId.extend({
  table: z
    .string()
    .regex(/^[a-z_]{1,64}$/, "must be the name of a table")
    .openapi({ description: "Name of a table of the database" }),
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
    problems: ["not-found", "conflict", "payload-too-large", "unsupported-media-type"],
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
    problems: ["not-found", "payload-too-large", "unsupported-media-type"],
  }),
} as const;
