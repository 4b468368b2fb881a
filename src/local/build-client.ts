/** `node build-client.ts`: makes the package `millrace`, with `millrace/client` in it, as `dist/client`. */
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { build, parseSync, Visitor } from "vite";
import { VERSION } from "../protocol/wire/release.ts";

const ROOT = join(import.meta.dirname, "../..");
const OUT = join(ROOT, "dist/client");
const TYPES = join(ROOT, ".tsbuild");
/** Dependencies that the package leaves to npm, in the releases it is tested with. */
const PEERS = ["zod", "eventsource-parser"] as const;
/** What an endpoint's description in OpenAPI says of a schema: the edge publishes it, the client only checks values. */
const DESCRIPTION = "meta";
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
    plugins: [{ name: "without-descriptions", renderChunk: (code) => leaveOutDescriptions(code) }],
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

/** The same module without `.meta(...)` behind its schemas, which is a fifth of what a browser would load. */
function leaveOutDescriptions(code: string): string {
  const calls: { from: number; to: number }[] = [];
  const visitor = new Visitor({
    CallExpression({ callee, end }) {
      if (callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return;
      if (callee.property.name === DESCRIPTION) calls.push({ from: callee.object.end, to: end });
    },
  });
  visitor.visit(parseSync("module.js", code).program);
  calls.sort((one, other) => other.from - one.from);
  return calls.reduce((text, { from, to }) => text.slice(0, from) + text.slice(to), code);
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
