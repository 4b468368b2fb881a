/** `node build-client.ts`: makes the package `millrace`, with `millrace/client` in it, as `dist/client`. */
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { build } from "vite";
import { VERSION } from "../protocol/wire/release.ts";

const ROOT = join(import.meta.dirname, "../..");
const OUT = join(ROOT, "dist/client");
const TYPES = join(ROOT, ".tsbuild");
/** Dependencies that the package leaves to npm, in the releases it is tested with. */
const PEERS = ["zod", "eventsource-parser"] as const;
/** A module that a declaration names. */
const SPECIFIER = /(\bfrom |\bimport\()"([^"]+)"/g;

await rm(OUT, { recursive: true, force: true });
await buildModules();
await copyTypes("client/entry.d.ts");
await writeFile(join(OUT, "package.json"), `${JSON.stringify(await describePackage(), null, 2)}\n`);
await copyFile(join(ROOT, "LICENSE"), join(OUT, "LICENSE"));
await copyFile(join(ROOT, "docs/guides/client.md"), join(OUT, "README.md"));

/** Builds one file for each module, so that a bundler can leave out unused ones. */
async function buildModules(): Promise<void> {
  await build({
    configFile: false,
    logLevel: "error",
    root: ROOT,
    build: {
      outDir: OUT,
      target: "es2024",
      minify: false,
      lib: { entry: join(ROOT, "src/client/entry.ts"), formats: ["es"] },
      rolldownOptions: {
        external: [...PEERS],
        output: { preserveModules: true, preserveModulesRoot: join(ROOT, "src"), entryFileNames: "[name].js" },
      },
    },
  });
}

/** A declaration that `tsc -b` has made, and all that it names. */
async function copyTypes(file: string, copied: Set<string> = new Set()): Promise<void> {
  if (copied.has(file)) return;
  copied.add(file);
  const text = await readFile(join(TYPES, file), "utf8");
  const named: string[] = [];
  const published = text.replaceAll(SPECIFIER, (_, before: string, specifier: string) => {
    if (specifier.startsWith(".")) named.push(relative(".", join(dirname(file), specifier.replace(/\.ts$/, ".d.ts"))));
    return `${before}"${specifier.replace(/\.ts$/, ".js")}"`;
  });
  await mkdir(dirname(join(OUT, file)), { recursive: true });
  await writeFile(join(OUT, file), published);
  for (const next of named) await copyTypes(next, copied);
}

async function describePackage(): Promise<object> {
  const { name, description, license, dependencies } = JSON.parse(
    await readFile(join(ROOT, "package.json"), "utf8"),
  ) as { name: string; description: string; license: string; dependencies: Record<string, string> };
  return {
    name,
    version: VERSION,
    description: `Client of millrace: ${description}`,
    license,
    type: "module",
    sideEffects: false,
    exports: { "./client": { types: "./client/entry.d.ts", default: "./client/entry.js" } },
    dependencies: Object.fromEntries(PEERS.map((peer) => [peer, `^${dependencies[peer]}`])),
  };
}
