/** `npm run pack:runner -- --platform linux-x64`: packs a runner, with its Node, as one archive. */
import { spawn } from "node:child_process";
import { createHash, createPrivateKey, sign } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { VERSION } from "../../protocol/wire/release.ts";
import { LocalError } from "../data-folder.ts";
import { listEntries } from "./list-entries.ts";
import { findNode, type Platform, PLATFORMS } from "./node-package.ts";
import { type Entry, writeTar } from "./write-tar.ts";

interface PackOptions {
  readonly platform: Platform;
  readonly out: string;
  readonly level: number;
  readonly softwareGpu: boolean;
  readonly node?: string;
  readonly signKey?: string;
}

const root = join(import.meta.dirname, "../../..");

/** Largest archive of a runner: it is carried to robots on sticks and over slow links. */
const MOST_BYTES = 60e6;
const HARDEST = 9;

function parseOptions(args: readonly string[]): PackOptions {
  const platforms = Object.keys(PLATFORMS);
  return new Command("npm run pack:runner --")
    .description("Pack a runner as one archive that needs no npm, no network and no Python")
    .addOption(new Option("--platform <system>", "for which system").choices(platforms).makeOptionMandatory())
    .option("--out <folder>", "where the archive goes", join(root, "dist/runner"))
    .option("--level <0-9>", "how hard xz tries", parseLevel, HARDEST)
    .option("--software-gpu", "with a GPU that is emulated on the CPU (linux-x64)", false)
    .option("--node <folder>", "unpacked release of Node for that system, where npm has none")
    .option("--sign-key <file>", "private Ed25519 key (PEM) that signs the checksum")
    .parse([...args], { from: "user" })
    .opts<PackOptions>();
}

function parseLevel(text: string): number {
  if (!/^\d$/.test(text)) throw new InvalidArgumentError("must be a number from 0 to 9.");
  return Number(text);
}

async function pack({ platform, out, level, softwareGpu, node, signKey }: PackOptions): Promise<void> {
  if (softwareGpu && platform !== "linux-x64") {
    throw new LocalError(`There is no software GPU for ${platform}: leave out --software-gpu.`);
  }
  const key = signKey === undefined ? null : await readKey(signKey);
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
    readonly dependencies: { readonly node: string };
  };
  const { node: version } = manifest.dependencies;
  const nodeFolder = await findNode(platform, { version, given: node, root, cache: join(root, "dist/npm") });
  const entries = await listEntries({ platform, root, nodeFolder, withSoftwareGpu: softwareGpu });
  const name = `millrace-runner-${VERSION}-${platform}${softwareGpu ? "-software-gpu" : ""}.tar.xz`;
  const archive = resolve(out, name);
  await mkdir(out, { recursive: true });
  // A signature of the archive before must not stay beside this one.
  for (const ending of [".sha256", ".sha256.sig"]) await rm(`${archive}${ending}`, { force: true });
  const digest = await compress(entries, archive, [...filterOf(platform, level)]);
  const line = `${digest}  ${name}\n`;
  await writeFile(`${archive}.sha256`, line);
  if (key !== null) await writeFile(`${archive}.sha256.sig`, sign(null, Buffer.from(line), key));
  const { size } = await stat(archive);
  if (level === HARDEST && size > MOST_BYTES) {
    throw new LocalError(`${archive} has ${size} bytes, and may have ${MOST_BYTES}: find what was added to it.`);
  }
  process.stdout.write(`${archive}: ${entries.length} files, ${(size / 1e6).toFixed(1)} MB\n`);
}

async function readKey(file: string) {
  const pem = await readFile(file).catch((error: Error) => {
    throw new LocalError(`--sign-key ${file} cannot be read: ${error.message}.`);
  });
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // The same sentence for whatever else it is.
  }
  throw new LocalError(`--sign-key ${file} is no Ed25519 key: make one with openssl genpkey -algorithm ed25519.`);
}

/** One thread, since more give other bytes. Branches of x86 programs are made alike first, which saves a tenth. */
function filterOf(platform: Platform, level: number): readonly string[] {
  return ["-T1", ...(platform.endsWith("x64") ? ["--x86"] : []), `--lzma2=preset=${level}`];
}

/** Writes the archive, whole or not at all, and returns its SHA-256 in hex. */
async function compress(entries: readonly Entry[], archive: string, filter: readonly string[]): Promise<string> {
  const draft = `${archive}.${process.pid}`;
  const xz = spawn("xz", [...filter, "--stdout"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((done, fail) => {
    xz.on("error", () => fail(new LocalError("xz is missing: install it (xz-utils, or xz on macOS).")));
    xz.on("close", (code) => (code === 0 ? done() : fail(new LocalError(`xz failed with code ${code}.`))));
  });
  const hash = createHash("sha256");
  const hashed = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
  try {
    const fed = pipeline(Readable.from(writeTar(entries)), xz.stdin);
    await Promise.all([ended, fed, pipeline(xz.stdout, hashed, createWriteStream(draft))]);
    await rename(draft, archive);
  } finally {
    await rm(draft, { force: true });
  }
  return hash.digest("hex");
}

pack(parseOptions(process.argv.slice(2))).catch((error: unknown) => {
  process.stderr.write(`millrace: ${error instanceof LocalError ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
