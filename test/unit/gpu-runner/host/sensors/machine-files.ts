import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** A folder with these files, by path, as the root of a machine; gone behind the test. */
export async function layOutMachine(files: Readonly<Record<string, string | number>>): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), "machine-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await changeFiles(root, files);
  return root;
}

export async function changeFiles(root: string, files: Readonly<Record<string, string | number>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(root, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `${content}\n`);
  }
}
