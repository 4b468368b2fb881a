import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "../..");

/** The client as somebody has it who installed the tarball. */
export interface InstalledClient {
  /** Holds the tour as it was written, the guide's samples, and what `tsc` made of the tour. */
  readonly folder: string;
  readonly tarball: string;
  remove(): Promise<void>;
}

/** Builds and packs the client, and installs it into an empty folder without the network, in which the tour is compiled. */
export async function packClient(): Promise<InstalledClient> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-client-"));
  const packed = join(folder, "packed");
  await mkdir(packed);
  await runIn(root, "npm", "run", "--silent", "build:client");
  const sources = ["dist/client", "node_modules/zod", "node_modules/eventsource-parser"];
  const tarballs: string[] = [];
  for (const source of sources) tarballs.push(await pack(source, packed));
  const manifest = { name: "newcomer", private: true, type: "module" };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  await runIn(folder, "npm", "install", "--offline", "--ignore-scripts", ...quiet, ...tarballs);
  await copyFile(join(root, "docs/examples/client-tour.ts"), join(folder, "client-tour.ts"));
  const samples = await readSamples("docs/guides/client.md");
  for (const [index, sample] of samples.entries()) await writeFile(join(folder, `sample-${index}.ts`), sample);
  await writeFile(join(folder, "run-tour.js"), RUN_TOUR);
  return {
    folder,
    tarball: tarballs[0] ?? "",
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Runs a program of `node_modules/.bin`, or one on the path, to a good end, and gives what it printed. */
export async function runIn(folder: string, program: string, ...args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(program, args, { cwd: folder })).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(" ")} failed:\n${stdout ?? ""}${stderr ?? ""}`, { cause: error });
  }
}

/** The compiler of this project. */
export const tsc = join(root, "node_modules/.bin/tsc");

/** Prints what the tour found, as JSON; arguments are the edge and a key. */
const RUN_TOUR = `import { takeTour } from "./client-tour.js";
const [edge, key] = (globalThis.Deno?.args ?? process.argv.slice(2));
console.log(JSON.stringify(await takeTour(edge, key)));
`;

async function pack(source: string, into: string): Promise<string> {
  const options = ["--json", "--ignore-scripts", "--pack-destination", into];
  const told: unknown = JSON.parse(await runIn(root, "npm", "pack", `./${source}`, ...options));
  return join(into, (told as [{ filename: string }])[0].filename);
}

/** The `ts` blocks of a document. */
async function readSamples(document: string): Promise<string[]> {
  const text = await readFile(join(root, document), "utf8");
  return [...text.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block]) => block ?? "");
}
