import { Command } from "commander";
import { endpoints } from "../protocol/endpoints.ts";
import { ProblemError } from "../protocol/problem.ts";
import { addEdge, type EdgeOptions, openEdge } from "./edge-options.ts";
import { PROCESS, type Shell } from "./shell.ts";
import { checkArchive } from "./transfer/check-archive.ts";
import { compareEdge } from "./transfer/compare-edge.ts";
import { openProgressLine } from "./render/progress-line.ts";
import { uploadArchive } from "./transfer/upload-archive.ts";

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
