import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { KernelSpec } from "../../../kernels/kernel-spec.ts";

/** SHA-256 over a kernel's files but its tests: another program under the old name has another digest. */
export async function digestKernel({ name, folder }: KernelSpec): Promise<string> {
  const files = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => entry.name);
  const hash = createHash("sha256").update(name);
  for (const file of files.toSorted()) hash.update(file).update(await readFile(new URL(file, folder)));
  return hash.digest("hex");
}
