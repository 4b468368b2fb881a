import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { type ArchivedObject, type ArchiveEnd, type ArchiveHead, ArchiveLine, RowTally } from "./archive.ts";

/** A part of an archive: its head, a row of a table as its text, an object, or its end. */
export type ArchivePart =
  | { readonly kind: "head"; readonly head: ArchiveHead }
  | { readonly kind: "row"; readonly table: string; readonly line: string }
  | { readonly kind: "object"; readonly object: ArchivedObject; readonly bytes: Buffer<ArrayBuffer> }
  | { readonly kind: "end"; readonly end: ArchiveEnd };

/** Reads an archive a line at a time. Throws where it is not whole, not as its end says, or no archive at all. */
export async function* readArchive(file: string): AsyncGenerator<ArchivePart> {
  const tallies = new Map<string, RowTally>();
  const objects = { count: 0, bytes: 0 };
  let table: string | null = null;
  let isWhole = false;
  let lineNumber = 0;
  for await (const line of readLines(file)) {
    lineNumber++;
    if (isWhole) throw broken(file, `line ${lineNumber} stands behind its end`);
    if (line.startsWith("[") && table !== null) {
      tallies.get(table)?.add(line);
      yield { kind: "row", table, line };
      continue;
    }
    const part = parseLine(file, line, lineNumber);
    if ((part.kind === "millrace-export") !== (lineNumber === 1)) throw broken(file, "it does not begin as an export");
    if (part.kind === "millrace-export") {
      yield { kind: "head", head: part };
    } else if (part.kind === "table") {
      table = part.name;
      tallies.set(table, new RowTally());
    } else if (part.kind === "object") {
      const bytes = Buffer.from(part.base64, "base64");
      if (`sha256:${createHash("sha256").update(bytes).digest("hex")}` !== part.digest)
        throw broken(file, `the object ${part.key} is not what it was`);
      objects.count++;
      objects.bytes += bytes.byteLength;
      yield { kind: "object", object: part, bytes };
    } else {
      const found = Object.fromEntries([...tallies].map(([name, tally]) => [name, tally.read()]));
      checkEnd(file, part, { kind: "end", tables: found, objects });
      isWhole = true;
      yield { kind: "end", end: part };
    }
  }
  if (!isWhole) throw broken(file, "its end is missing");
}

function checkEnd(file: string, told: ArchiveEnd, found: ArchiveEnd): void {
  for (const [name, tally] of Object.entries(told.tables)) {
    const { rows, digest } = found.tables[name] ?? { rows: 0, digest: "" };
    if (rows !== tally.rows || digest !== tally.digest)
      throw broken(file, `the rows of ${name} are not what they were`);
  }
  if (Object.keys(found.tables).length !== Object.keys(told.tables).length) throw broken(file, "it has other tables");
  const { count, bytes } = found.objects;
  if (count !== told.objects.count || bytes !== told.objects.bytes) throw broken(file, "objects are missing");
}

function parseLine(file: string, line: string, lineNumber: number) {
  try {
    return ArchiveLine.parse(JSON.parse(line));
  } catch {
    throw broken(file, `line ${lineNumber} is none of an export`);
  }
}

function broken(file: string, why: string): ProblemError {
  return new ProblemError("invalid-request", `${file} cannot be imported: ${why}.`);
}

async function* readLines(file: string): AsyncGenerator<string> {
  const source = createReadStream(file);
  const plain = createGunzip();
  source.on("error", (error) => plain.destroy(error));
  const decoder = new TextDecoder();
  // Of a line that is not whole yet: an object's may be many chunks long.
  let open: string[] = [];
  try {
    for await (const chunk of source.pipe(plain)) {
      const parts = decoder.decode(chunk as Buffer, { stream: true }).split("\n");
      for (const part of parts.slice(0, -1)) {
        yield open.length === 0 ? part : [...open, part].join("");
        open = [];
      }
      open.push(parts.at(-1) ?? "");
    }
  } catch (error) {
    const isCut = error instanceof Error && "code" in error && String(error.code).startsWith("Z_");
    throw isCut ? broken(file, "it is no gzip file, or a part of it is missing or damaged") : error;
  }
  if (open.some((part) => part !== "")) yield open.join("");
}

export interface CheckedArchive {
  readonly head: ArchiveHead;
  readonly end: ArchiveEnd;
  /** The rows of the table of keys. */
  readonly keys: readonly string[];
}

/** Reads an archive from head to end, so that nothing of one that is not whole is ever sent. */
export async function checkArchive(file: string): Promise<CheckedArchive> {
  let head: ArchiveHead | undefined;
  let end: ArchiveEnd | undefined;
  const keys: string[] = [];
  for await (const part of readArchive(file)) {
    if (part.kind === "head") head = part.head;
    else if (part.kind === "end") end = part.end;
    else if (part.kind === "row" && part.table === "keys") keys.push(part.line);
  }
  if (head === undefined || end === undefined) throw new ProblemError("invalid-request", `${file} is empty.`);
  return { head, end, keys };
}
