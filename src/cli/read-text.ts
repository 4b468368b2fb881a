import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { ProblemError } from "../protocol/problem.ts";
import type { Shell } from "./shell.ts";

const MOST_BYTES = 64 * 2 ** 20;

/** The text of a file, or of standard input for `-`. */
export async function readText(file: string, shell: Shell): Promise<string> {
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
