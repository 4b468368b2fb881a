import type { Shell } from "../shell.ts";

/** Asks a person, whose first line decides; false where nobody is there. */
export async function askYes(question: string, { warn, input, inputIsTerminal }: Shell): Promise<boolean> {
  if (!inputIsTerminal) return false;
  warn(`${question} [y/N] `);
  const decoder = new TextDecoder();
  let line = "";
  for await (const bytes of input()) {
    line += decoder.decode(bytes, { stream: true });
    if (line.includes("\n")) break;
  }
  return /^y(es)?\s*$/i.test(line.split("\n", 1)[0] ?? "");
}
