import { createHash } from "node:crypto";
import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { ModelFile } from "../../protocol/models/upload.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Transfer } from "../../protocol/service/transfer.ts";
import type { ProgressLine } from "../render/progress-line.ts";
import { type ArchivedObject, type ArchiveEnd, type ArchiveHead, isArchived, RowTally, type Tally } from "./archive.ts";
import { downloadRows, listObjects } from "./read-edge.ts";

type Line = ArchiveHead | ArchiveEnd | ArchivedObject | { kind: "table"; name: string };

const Files = ModelFile.array();

const toText = (line: Line) => `${JSON.stringify(line)}\n`;

/** A file that is too large for an archive, and the models that it is of, as `project/name`. */
export interface LeftOut {
  readonly key: string;
  readonly sizeBytes: number;
  readonly models: readonly string[];
}

/**
 * The text of an archive of everything an edge has, a page at a time, but for large files, which `onLeftOut` gets.
 * Throws where the database changed while it was read, so that its tables would not fit each other.
 */
export async function* writeArchive(
  client: Client,
  transfer: Transfer,
  line: ProgressLine,
  onLeftOut: (file: LeftOut) => void,
): AsyncGenerator<string> {
  const { id, schemaVersion, tables } = transfer;
  const head = { kind: "millrace-export", format: 1, exportId: id, schemaVersion, tables } as const;
  yield toText({ ...head, writtenAt: new Date().toISOString() });
  const before = await tallyTable(client, id, "history_state");
  const tallies: Record<string, Tally> = {};
  const large = new LargeModels();
  for (const { name, columns, rows } of tables) {
    yield toText({ kind: "table", name });
    const tally = new RowTally();
    for await (const lines of downloadRows(client, id, name)) {
      for (const row of lines) {
        tally.add(row);
        large.add(name, columns, row);
      }
      if (lines.length === 0) continue;
      line.show({ what: `exporting ${name}`, done: tally.read().rows, total: rows });
      yield `${lines.join("\n")}\n`;
    }
    tallies[name] = tally.read();
    if (tally.read().rows !== rows) throw changed(name);
  }
  const objects = { count: 0, bytes: 0 };
  for await (const { key, contentType, sizeBytes } of listObjects(client, id)) {
    if (!isArchived({ sizeBytes })) {
      onLeftOut({ key, sizeBytes, models: large.find(key) });
      continue;
    }
    const response = await client.send(endpoints.exportObject, { params: { id }, query: { key } });
    const bytes = Buffer.from(await response.arrayBuffer());
    if (bytes.byteLength !== sizeBytes) throw changed(key);
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    yield toText({ kind: "object", key, contentType, digest, base64: bytes.toString("base64") });
    objects.count++;
    objects.bytes += sizeBytes;
  }
  const after = await tallyTable(client, id, "history_state");
  if (after.digest !== before.digest) throw changed("the history");
  yield toText({ kind: "end", tables: tallies, objects });
}

/** Names of large models by the keys of their files, from the rows of their tables. */
class LargeModels {
  readonly #names = new Map<unknown, string>();
  readonly #byKey = new Map<string, Set<string>>();

  /** Takes a row as its text; a model's stands before those of its versions. */
  add(table: string, columns: readonly string[], line: string): void {
    if (table !== "models" && table !== "model_versions") return;
    const cells: unknown[] = JSON.parse(line);
    const cell = (name: string) => cells[columns.indexOf(name)];
    if (table === "models") {
      this.#names.set(cell("id"), `${String(cell("project"))}/${String(cell("name"))}`);
      return;
    }
    const files = cell("files");
    const name = this.#names.get(cell("model_id"));
    if (typeof files !== "string" || name === undefined) return;
    for (const { digest } of Files.parse(JSON.parse(files))) {
      const key = `artifacts/${digest.replace(":", "/")}`;
      this.#byKey.set(key, (this.#byKey.get(key) ?? new Set()).add(name));
    }
  }

  find(key: string): string[] {
    return [...(this.#byKey.get(key) ?? [])];
  }
}

async function tallyTable(client: Client, id: string, table: string): Promise<Tally> {
  const tally = new RowTally();
  for await (const lines of downloadRows(client, id, table)) for (const line of lines) tally.add(line);
  return tally.read();
}

function changed(what: string): ProblemError {
  return new ProblemError(
    "conflict",
    `${what} changed while it was read: nothing was written, try again when less is going on.`,
  );
}
