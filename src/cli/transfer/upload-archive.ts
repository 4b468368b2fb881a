import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { OBJECT_MEDIA_TYPE, ROWS_MEDIA_TYPE } from "../../protocol/service/transfer.ts";
import type { ProgressLine } from "../render/progress-line.ts";
import type { ArchiveHead } from "./archive.ts";
import { readArchive } from "./read-archive.ts";

/** Characters of a page, up to three bytes each; a row of D1 is shorter than the rest of the limit. */
const PAGE_LENGTH = 1_000_000;

/** Sends an archive that was checked to an edge, page by page in its order. */
export async function uploadArchive(
  client: Client,
  id: string,
  file: string,
  head: ArchiveHead,
  line: ProgressLine,
): Promise<void> {
  const page: { table: string | null; lines: string[]; length: number } = { table: null, lines: [], length: 0 };
  const sent = new Map<string, number>();
  const send = async () => {
    const { table, lines } = page;
    if (table !== null && lines.length > 0) {
      const rawBody = { mediaType: ROWS_MEDIA_TYPE, content: lines.join("\n") };
      await client.send(endpoints.importRows, { params: { id, table }, rawBody });
      const done = (sent.get(table) ?? 0) + lines.length;
      sent.set(table, done);
      line.show({
        what: `importing ${table}`,
        done,
        total: head.tables.find(({ name }) => name === table)?.rows ?? done,
      });
    }
    Object.assign(page, { lines: [], length: 0 });
  };
  for await (const part of readArchive(file)) {
    if (part.kind === "row") {
      const isFull = page.lines.length >= LIMITS.exportPageRows || page.length + part.line.length > PAGE_LENGTH;
      if (isFull || part.table !== page.table) await send();
      page.table = part.table;
      page.lines.push(part.line);
      page.length += part.line.length;
    } else if (part.kind === "object") {
      await send();
      const { key, digest, contentType } = part.object;
      const query = { key, digest, ...(contentType === null ? {} : { contentType }) };
      const rawBody = { mediaType: OBJECT_MEDIA_TYPE, content: new Uint8Array(part.bytes) };
      await client.send(endpoints.importObject, { params: { id }, query, rawBody });
    } else if (part.kind === "end") {
      await send();
    }
  }
}
