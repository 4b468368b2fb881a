import { Command } from "commander";
import { createClient } from "../client/client.ts";
import { endpoints } from "../protocol/endpoints.ts";
import { addEdge, type EdgeOptions } from "./edge-options.ts";
import { checkArchive } from "./transfer/check-archive.ts";
import { compareEdge } from "./transfer/compare-edge.ts";
import { uploadArchive } from "./transfer/upload-archive.ts";

interface ImportOptions extends EdgeOptions {
  readonly force: boolean;
}

/** `millrace import`: a file of `millrace export` into another edge, then compared with what is there. */
export function importCommand(): Command {
  return addEdge(new Command("import"), "scope admin")
    .description("Bring the file of an export into an edge whose database is empty, and compare the two")
    .argument("<file>", "what `millrace export` wrote")
    .option("--force", "into a database with other rows, too: those of the same keys are replaced", false)
    .action(importDatabase);
}

async function importDatabase(file: string, { edge, key, force }: ImportOptions): Promise<void> {
  // Read to its end first: of a file that is not whole nothing is sent.
  const archive = await checkArchive(file);
  const { exportId, schemaVersion } = archive.head;
  const client = createClient({ baseUrl: edge, key });
  const { id } = await client.call(endpoints.beginTransfer, {
    body: { kind: "import", exportId, schemaVersion, into: force ? "any" : "empty" },
  });
  await uploadArchive(client, id, file, archive.head);
  const different = await compareEdge(client, archive);
  if (different.length > 0 && !force) {
    throw new Error(`the edge differs from ${file} in ${different.join(", ")}: the import stays open, run it again.`);
  }
  await client.call(endpoints.endTransfer, { params: { id } });
  const same = different.length === 0 ? "the edge has the same rows and objects" : `others in ${different.join(", ")}`;
  process.stderr.write(`imported ${file}: ${same}\n`);
}
