import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "vite";

/**
 * Puts the WGSL of the house's kernels beside the page, a file of JSON a kernel: runners announce what a kernel takes
 * and not its source, and a reader shall see it. A kernel that shares another's files has an empty list.
 */
export function emitKernelSources(folder: string): Plugin {
  return {
    name: "emit-kernel-sources",
    async generateBundle() {
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        if (!entry.isDirectory()) continue;
        const names = await readdir(join(folder, entry.name));
        if (!names.includes(`${entry.name}.kernel.ts`)) continue;
        const files = names.filter((name) => name.endsWith(".wgsl")).toSorted();
        const sources = await Promise.all(
          files.map(async (name) => ({ name, wgsl: await readFile(join(folder, entry.name, name), "utf8") })),
        );
        const fileName = `assets/kernels/${entry.name}.json`;
        this.emitFile({ type: "asset", fileName, source: JSON.stringify(sources) });
      }
    },
  };
}
