import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { Command } from "commander";
import { endpoints } from "../protocol/endpoints.ts";
import { addEdge, type EdgeOptions, openEdge } from "./edge-options.ts";
import { PROCESS, type Shell } from "./shell.ts";
import { openProgressLine } from "./render/progress-line.ts";
import { writeArchive } from "./transfer/write-archive.ts";

interface ExportOptions extends EdgeOptions {
  readonly out: string;
}

/** Rows of numbers and digests: more effort saves little. */
const GZIP_LEVEL = 4;

/** `millrace export`: everything that an edge has in its database and beside it, as one file. */
export function exportCommand(shell: Shell = PROCESS): Command {
  return addEdge(new Command("export"), "scope admin")
    .description("Write everything that an edge has in its database and its bucket to a file, secrets among it")
    .requiredOption("--out <file>", "where to write it (gzip); replaced when all is there")
    .action((options: ExportOptions) => exportDatabase(options, shell));
}

async function exportDatabase({ out, json, ...choice }: ExportOptions, shell: Shell): Promise<void> {
  const client = await openEdge(choice, shell);
  const transfer = await client.call(endpoints.beginTransfer, { body: { kind: "export" } });
  const line = openProgressLine(shell, !json);
  const partial = `${out}.partial`;
  try {
    // It has hashes of keys and the secrets of webhooks.
    const file = createWriteStream(partial, { mode: 0o600, flush: true });
    await pipeline(writeArchive(client, transfer, line), createGzip({ level: GZIP_LEVEL }), file);
    await rename(partial, out);
    if (json) shell.print(`${JSON.stringify({ out, exportId: transfer.id })}\n`);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    line.clear();
    // One that cannot be ended ends by itself.
    await client.call(endpoints.endTransfer, { params: { id: transfer.id } }).catch(() => undefined);
  }
}
