import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Row } from "./row.ts";

const FOLDER = new URL("results/", import.meta.url);

/** Saves the rows of one bench: a line about the machine, then a line for each row. Returns the file's path. */
export async function saveResults(machine: Readonly<Record<string, unknown>>, rows: readonly Row[]): Promise<string> {
  const [first] = rows;
  if (first === undefined) throw new RangeError("there is nothing to keep");
  const file = new URL(nameResult(first, String(machine["date"])), FOLDER);
  await mkdir(FOLDER, { recursive: true });
  await writeFile(file, [machine, ...rows].map((line) => `${JSON.stringify(line)}\n`).join(""));
  return fileURLToPath(file);
}

/** `<bench>-<day>-<device>.jsonl` without characters that do not belong in a file name. */
export function nameResult({ bench, device }: Pick<Row, "bench" | "device">, date: string): string {
  const slug = device
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return `${bench}-${date.slice(0, 10)}-${slug}.jsonl`;
}
