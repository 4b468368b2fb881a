import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { RowsEnd } from "../../protocol/transfer.ts";

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
