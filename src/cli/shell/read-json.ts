import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Shell } from "./shell.ts";

const MOST_BYTES = 64 * 2 ** 20;

/** The JSON of a file, or of standard input for `-`. Throws `invalid-request` where it is none. */
export async function readJson(file: string, shell: Shell): Promise<unknown> {
  const value = parseJson(await readText(file, shell));
  if (value !== undefined) return value;
  throw new ProblemError("invalid-request", `${file === "-" ? "Standard input" : file} holds no JSON.`);
}

async function readText(file: string, shell: Shell): Promise<string> {
  if (file !== "-") return readFile(resolve(shell.folder, file), "utf8");
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of shell.input()) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MOST_BYTES)
      throw new ProblemError("payload-too-large", "The input is longer than any request may be.");
  }
  return text + decoder.decode();
}
