import type { Context, Hono } from "hono";
import { z } from "zod";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { invalidRequest, unsupportedMediaType } from "../../protocol/wire/parse-input.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { OBJECT_MEDIA_TYPE, ROWS_MEDIA_TYPE } from "../../protocol/service/transfer.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { storeBody } from "../http/store-body.ts";
import { mediaTypeOf, readBody } from "../http/read-body.ts";
import { digestOf } from "../store/artifact-store.ts";
import { decodeCursor, encodeCursor } from "../store/cursor.ts";
import { keyOf, readRows, type Row, STORED_TABLES, type StoredTable, writeRows } from "../store/stored-tables.ts";
import { PARTS_FOLDER } from "../store/models/upload-store.ts";
import { beginTransfer, endTransfer, type OpenTransfer, touchTransfer } from "../store/transfer-store.ts";

export function bindTransfers(app: Hono<AppEnv>): void {
  bind(app, endpoints.beginTransfer, async ({ env, body }) => {
    const begun = await beginTransfer(env.DB, body, Date.now());
    if ("reason" in begun) throw new ProblemError("conflict", begun.reason);
    return begun;
  });
  bind(app, endpoints.endTransfer, async ({ env, params }) => {
    if (!(await endTransfer(env.DB, params.id))) throw noTransfer(params.id);
    return new Response(null, { status: 204 });
  });
  bind(app, endpoints.exportRows, async ({ c, env, params, query }) => {
    const table = findTable(params.table);
    const after = query.cursor === undefined ? null : decodeCursor(query.cursor, table.key.length);
    const { upTo } = await openTransfer(env.DB, params.id, ["export"]);
    const rows = await readRows(env.DB, table, { after, upTo: upTo[table.name] });
    const last = rows.at(-1);
    const end = { nextCursor: last === undefined ? null : encodeCursor(keyOf(table, last) as string[]) };
    return c.body([...rows, end].map((line) => `${JSON.stringify(line)}\n`).join(""), 200, {
      "content-type": ROWS_MEDIA_TYPE,
    });
  });
  bind(app, endpoints.importRows, async ({ c, env, params }) => {
    const bytes = await readRaw(c, ROWS_MEDIA_TYPE, LIMITS.transferPageBytes);
    const table = findTable(params.table);
    const rows = parseRows(table, bytes);
    await openTransfer(env.DB, params.id, ["import"]);
    await storeRows(env.DB, table, rows);
    return { rows: rows.length };
  });
  bindObjects(app);
}

function bindObjects(app: Hono<AppEnv>): void {
  bind(app, endpoints.listObjects, async ({ env, params, query }) => {
    const startAfter = query.cursor === undefined ? "" : String(decodeCursor(query.cursor, 1)[0]);
    await openTransfer(env.DB, params.id, ["export", "import"]);
    const { objects, truncated } = await env.ARTIFACTS.list({ startAfter, include: ["httpMetadata"] });
    const last = objects.at(-1);
    // Parts are for nobody but the edge that they were sent to.
    const kept = objects.filter(({ key }) => !key.startsWith(PARTS_FOLDER));
    return {
      items: kept.map(({ key, size, httpMetadata }) => ({
        key,
        sizeBytes: size,
        contentType: httpMetadata?.contentType ?? null,
      })),
      nextCursor: truncated && last !== undefined ? encodeCursor([last.key]) : null,
    };
  });
  bind(app, endpoints.exportObject, async ({ c, env, params, query }) => {
    await openTransfer(env.DB, params.id, ["export"]);
    const object = await env.ARTIFACTS.get(query.key);
    if (object === null) throw new ProblemError("not-found", `There is no object ${query.key}.`);
    return c.body(object.body, 200, { "content-type": OBJECT_MEDIA_TYPE, "content-length": String(object.size) });
  });
  bind(app, endpoints.importObject, async ({ c, env, params, query: { key, digest, contentType } }) => {
    const put = (bytes: ReadableStream | Uint8Array) =>
      env.ARTIFACTS.put(key, bytes, {
        sha256: digest.slice("sha256:".length),
        ...(contentType === undefined ? {} : { httpMetadata: { contentType } }),
      });
    const told = { key, contentType: contentType ?? null };
    if (Number(c.req.header("content-length")) > LIMITS.modelBytes) {
      // Beside others it may be larger than a Worker's memory.
      await openTransfer(env.DB, params.id, ["import"]);
      const limits = { mediaTypes: [OBJECT_MEDIA_TYPE], maxBytes: LIMITS.artifactBytes };
      const { sizeBytes } = await storeBody(c.req.raw, digest, limits, put);
      return { ...told, sizeBytes };
    }
    const bytes = await readRaw(c, OBJECT_MEDIA_TYPE, LIMITS.modelBytes);
    if ((await digestOf(bytes.buffer)) !== digest)
      throw invalidRequest([{ pointer: "#", message: `is not ${digest}` }]);
    await openTransfer(env.DB, params.id, ["import"]);
    await put(bytes);
    return { ...told, sizeBytes: bytes.byteLength };
  });
}

function noTransfer(id: string): ProblemError {
  return new ProblemError("not-found", `There is no transfer ${id} of that kind that is open.`);
}

async function openTransfer(
  binding: D1Database,
  id: string,
  kinds: readonly OpenTransfer["kind"][],
): Promise<OpenTransfer> {
  const open = await touchTransfer(binding, id, kinds, Date.now());
  if (open === null) throw noTransfer(id);
  return open;
}

function findTable(name: string): StoredTable {
  const table = STORED_TABLES.find((each) => each.name === name);
  if (table === undefined) throw new ProblemError("not-found", `There is no table ${name}.`);
  return table;
}

function readRaw({ req }: Context<AppEnv>, wanted: string, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const mediaType = mediaTypeOf(req.raw);
  if (mediaType !== wanted) throw unsupportedMediaType(mediaType, [wanted]);
  return readBody(req.raw, maxBytes);
}

const Cells = z.array(z.union([z.string(), z.number(), z.null()]));

/** Rows from lines; an error names its line, counted from 0. */
function parseRows(table: StoredTable, bytes: Uint8Array): Row[] {
  const lines = new TextDecoder()
    .decode(bytes)
    .split("\n")
    .filter((line) => line !== "");
  const refuse = (line: number) =>
    invalidRequest([
      {
        pointer: lines.length === 1 ? "#" : `#/${line}`,
        message: `must be an array of ${table.columns.length} values`,
      },
    ]);
  if (lines.length === 0) throw invalidRequest([{ pointer: "#", message: "must hold a row" }]);
  return lines.map((line, index) => {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw refuse(index);
    }
    const cells = Cells.length(table.columns.length).safeParse(value);
    if (!cells.success) throw refuse(index);
    return cells.data;
  });
}

/** A row that the database refuses (a missing reference or a missing value) is the caller's fault. */
async function storeRows(binding: D1Database, table: StoredTable, rows: readonly Row[]): Promise<void> {
  try {
    await writeRows(binding, table, rows);
  } catch (error) {
    const broken = /(FOREIGN KEY|NOT NULL|UNIQUE|CHECK) constraint failed/.exec(String(error));
    if (broken === null) throw error;
    throw new ProblemError("conflict", `A row of ${table.name} does not fit the database: ${broken[0]}.`);
  }
}
