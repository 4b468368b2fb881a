import type { Client } from "../../client/client.ts";
import { listAll } from "../../client/list-all.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { RowsEnd, type StoredObject } from "../../protocol/service/transfer.ts";
import { isArchived, RowTally } from "./archive.ts";
import type { CheckedArchive } from "./read-archive.ts";

/** The rows of a table, page by page, as the lines that they came as. */
export async function* downloadRows(client: Client, id: string, table: string): AsyncGenerator<string[]> {
  let cursor: string | null = null;
  do {
    const query: { cursor?: string } = cursor === null ? {} : { cursor };
    const response = await client.send(endpoints.exportRows, { params: { id, table }, query });
    const lines = (await response.text()).trimEnd().split("\n");
    // A page that was cut off has no such line.
    cursor = RowsEnd.parse(JSON.parse(lines.pop() ?? "")).nextCursor;
    yield lines;
  } while (cursor !== null);
}

/** Everything that lies beside the database, by key. */
export function listObjects(client: Client, id: string): AsyncGenerator<StoredObject> {
  return listAll(client, endpoints.listObjects, { params: { id } });
}

/**
 * Reads an edge's whole contents and compares them with an archive by count and digest. Returns the names of the tables
 * that differ, and `objects`. Keys missing in the archive are ignored: the importer needs one.
 */
export async function compareEdge(client: Client, { keys, end }: CheckedArchive): Promise<string[]> {
  const keyIds = new Set(keys.map(idOf));
  const { id, tables } = await client.call(endpoints.beginTransfer, { body: { kind: "export" } });
  try {
    const different: string[] = [];
    for (const { name } of tables) {
      const tally = new RowTally();
      for await (const lines of downloadRows(client, id, name))
        for (const line of lines) if (name !== "keys" || keyIds.has(idOf(line))) tally.add(line);
      const [found, wanted] = [tally.read(), end.tables[name]];
      if (found.rows !== wanted?.rows || found.digest !== wanted.digest) different.push(name);
    }
    const objects = { count: 0, bytes: 0 };
    for await (const { sizeBytes } of listObjects(client, id)) {
      if (!isArchived({ sizeBytes })) continue;
      objects.count++;
      objects.bytes += sizeBytes;
    }
    if (objects.count !== end.objects.count || objects.bytes !== end.objects.bytes) different.push("objects");
    return different;
  } finally {
    await client.call(endpoints.endTransfer, { params: { id } });
  }
}

/** The first column of a row. */
function idOf(line: string): unknown {
  const [id]: unknown[] = JSON.parse(line);
  return id;
}
