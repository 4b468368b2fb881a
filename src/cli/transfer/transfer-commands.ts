import { Command } from "commander";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { addEdge, type EdgeOptions, openEdge } from "../options/edge-options.ts";
import { openProgressLine } from "../render/progress-line.ts";
import { PROCESS, type Shell } from "../shell/shell.ts";
import { checkArchive } from "./read-archive.ts";
import { compareEdge } from "./read-edge.ts";
import { uploadArchive } from "./upload-archive.ts";
import { type LeftOut, writeArchive } from "./write-archive.ts";

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
  const leftOut: LeftOut[] = [];
  try {
    // It has hashes of keys and the secrets of webhooks.
    const file = createWriteStream(partial, { mode: 0o600, flush: true });
    await pipeline(
      writeArchive(client, transfer, line, (left) => leftOut.push(left)),
      createGzip({ level: GZIP_LEVEL }),
      file,
    );
    await rename(partial, out);
    line.clear();
    for (const left of leftOut) shell.warn(describeLeftOut(left));
    if (json) shell.print(`${JSON.stringify({ out, exportId: transfer.id, leftOut })}\n`);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  } finally {
    line.clear();
    // One that cannot be ended ends by itself.
    await client.call(endpoints.endTransfer, { params: { id: transfer.id } }).catch(() => undefined);
  }
}

function describeLeftOut({ key, sizeBytes, models }: LeftOut): string {
  const [size, most] = [sizeBytes, LIMITS.artifactBytes].map((bytes) => Math.ceil(bytes / 2 ** 20));
  const whose = models.length === 0 ? "of no model" : `of ${models.join(", ")}`;
  return `${key} (${size} MiB, ${whose}) is not in the export, which takes files up to ${most} MiB: keep it elsewhere, and after an import send it again by millrace models push\n`;
}

interface ImportOptions extends EdgeOptions {
  readonly force: boolean;
}

/** `millrace import`: a file of `millrace export` into another edge, then compared with what is there. */
export function importCommand(shell: Shell = PROCESS): Command {
  return addEdge(new Command("import"), "scope admin")
    .description("Bring the file of an export into an edge whose database is empty, and compare the two")
    .argument("<file>", "what `millrace export` wrote")
    .option("--force", "into a database with other rows, too: those of the same keys are replaced", false)
    .action((file: string, options: ImportOptions) => importDatabase(file, options, shell));
}

async function importDatabase(file: string, options: ImportOptions, shell: Shell): Promise<void> {
  const { force } = options;
  // Read to its end first: of a file that is not whole nothing is sent.
  const archive = await checkArchive(file);
  const { exportId, schemaVersion } = archive.head;
  const client = await openEdge(options, shell);
  const { id } = await client.call(endpoints.beginTransfer, {
    body: { kind: "import", exportId, schemaVersion, into: force ? "any" : "empty" },
  });
  const line = openProgressLine(shell, !options.json);
  await uploadArchive(client, id, file, archive.head, line).finally(() => line.clear());
  const different = await compareEdge(client, archive);
  if (different.length > 0 && !force) {
    throw new ProblemError(
      "conflict",
      `the edge differs from ${file} in ${different.join(", ")}: the import stays open, run it again.`,
    );
  }
  await client.call(endpoints.endTransfer, { params: { id } });
  const same = different.length === 0 ? "the edge has the same rows and objects" : `others in ${different.join(", ")}`;
  if (!options.json) shell.warn(`imported ${file}: ${same}\n`);
  else shell.print(`${JSON.stringify({ file, exportId, different })}\n`);
}
