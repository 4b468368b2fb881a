import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "vite";

const QUOTED = /url\((["'])data:image\/([a-z]+)[^,]*?(;base64)?,((?:\\.|(?!\1)[^\\])*)\1\)/g;
const BARE = /url\(()data:image\/([a-z]+)[^,]*?(;base64)?,([^)"']*)\)/g;

/**
 * Turns `url(data:image/…)` in stylesheets into files of their own: images from `data:` are not of
 * the page's origin, so a policy of `default-src 'self'` refuses them.
 */
export function emitDataImages(): Plugin {
  return {
    name: "emit-data-images",
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== "asset" || !file.fileName.endsWith(".css")) continue;
        const emit = (_match: string, _quote: string, kind: string, base64: string | undefined, data: string) => {
          const source = base64 === undefined ? readText(data) : readBase64(data);
          const handle = this.emitFile({ type: "asset", name: `image.${kind}`, source });
          return `url("./${this.getFileName(handle).split("/").at(-1)}")`;
        };
        file.source = String(file.source).replaceAll(QUOTED, emit).replaceAll(BARE, emit);
      }
    },
  };
}

function readText(data: string): string {
  const unescaped = data.replaceAll(/\\(.)/g, "$1");
  return unescaped.includes("<") ? unescaped : decodeURIComponent(unescaped);
}

function readBase64(data: string): Uint8Array {
  return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
}

const SHARED = /\.\.\/([\w-]+\/[\w-]+\.wgsl)/g;

/**
 * Puts the WGSL of the house's kernels beside the page, a file of JSON a kernel: runners announce what a kernel takes
 * and not its source, and a reader shall see it. Files that a kernel's own ones name, as `../folder/file.wgsl`, follow
 * them. A kernel that shares all files of another has an empty list.
 */
export function emitKernelSources(folder: string): Plugin {
  return {
    name: "emit-kernel-sources",
    async generateBundle() {
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        if (!entry.isDirectory()) continue;
        const names = await readdir(join(folder, entry.name));
        if (!names.includes(`${entry.name}.kernel.ts`)) continue;
        const own = await readFiles(
          join(folder, entry.name),
          names.filter((name) => name.endsWith(".wgsl")).toSorted(),
        );
        const named = own.flatMap(({ wgsl }) => [...wgsl.matchAll(SHARED)].map(([, name = ""]) => name));
        const shared = new Set(named.filter((name) => !name.startsWith(`${entry.name}/`)));
        const sources = [...own, ...(await readFiles(folder, [...shared].toSorted()))];
        const fileName = `assets/kernels/${entry.name}.json`;
        this.emitFile({ type: "asset", fileName, source: JSON.stringify(sources) });
      }
    },
  };
}

function readFiles(folder: string, names: readonly string[]) {
  return Promise.all(names.map(async (name) => ({ name, wgsl: await readFile(join(folder, name), "utf8") })));
}
