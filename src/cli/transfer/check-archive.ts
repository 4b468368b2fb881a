import { ProblemError } from "../../protocol/problem.ts";
import type { ArchiveEnd, ArchiveHead } from "./archive.ts";
import { readArchive } from "./read-archive.ts";

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
