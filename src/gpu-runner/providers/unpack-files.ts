import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { basename, join } from "node:path";
import { Transform, type TransformCallback } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createInflateRaw } from "node:zlib";
import { execFile, spawn } from "node:child_process";
import { promisify } from "node:util";
import { ProblemError } from "../../protocol/wire/problem.ts";

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const END_BYTES = 22;
/** The longest comment behind an archive's end, which is searched from behind. */
const MOST_END_BYTES = END_BYTES + 2 ** 16;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;

/** The libraries have 272 MB, and a wheel 300. */
const MOST_BYTES = 2 ** 30;
const MOST_LISTING_BYTES = 2 ** 26;

/** Passes bytes on, and fails with `invalid-request` beyond 1 GiB. */
export class LimitBytes extends Transform {
  readonly #what: string;
  #left = MOST_BYTES;

  constructor(what: string) {
    super();
    this.#what = what;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#left -= chunk.length;
    if (this.#left >= 0) done(null, chunk);
    else
      done(
        new ProblemError("invalid-request", `${this.#what} has more than 1 GiB, which no library of a provider has.`),
      );
  }
}

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly packedBytes: number;
  readonly headerAt: number;
}

/**
 * Takes files of these names out of an archive, wherever they lie in it, into a folder: a wheel or NuGet package, which
 * are ZIP files, or a tarball, by the machine's `tar`. Fails with `invalid-request` for anything else; a name that the
 * archive lacks is left out.
 */
export async function unpackFiles(archive: string, names: readonly string[], folder: string): Promise<void> {
  if (/\.(tgz|tar\.gz)$/.test(archive)) return unpackTarball(archive, names, folder);
  for (const entry of await listEntries(archive)) {
    const name = basename(entry.name);
    if (names.includes(name)) await unpackEntry(archive, entry, join(folder, name));
  }
}

/** Source: APPNOTE.TXT, .ZIP File Format Specification, 4.3; archives beyond 4 GiB are not read. */
async function listEntries(archive: string): Promise<Entry[]> {
  const file = await open(archive);
  try {
    const { size } = await file.stat();
    const read = async (offset: number, wanted: number) => {
      const bytes = Math.min(wanted, size);
      return (await file.read(Buffer.alloc(bytes), 0, bytes, Math.max(0, offset))).buffer;
    };
    const tailBytes = Math.min(size, MOST_END_BYTES);
    const tail = await read(size - tailBytes, tailBytes);
    let at = tailBytes - END_BYTES;
    while (at >= 0 && tail.readUInt32LE(at) !== END_SIGNATURE) at--;
    if (at < 0) throw new ProblemError("invalid-request", `${archive} is no wheel, NuGet package or tarball.`);
    const directory = await read(tail.readUInt32LE(at + 16), tail.readUInt32LE(at + 12));
    const entries: Entry[] = [];
    for (let start = 0; start + ENTRY_BYTES <= directory.length;) {
      const row = directory.subarray(start);
      if (row.readUInt32LE(0) !== ENTRY_SIGNATURE) break;
      const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => row.readUInt16LE(field)) as [
        number,
        number,
        number,
      ];
      entries.push({
        name: row.toString("utf8", ENTRY_BYTES, ENTRY_BYTES + nameBytes),
        method: row.readUInt16LE(10),
        packedBytes: row.readUInt32LE(20),
        headerAt: row.readUInt32LE(42),
      });
      start += ENTRY_BYTES + nameBytes + extraBytes + commentBytes;
    }
    return entries;
  } finally {
    await file.close();
  }
}

async function unpackEntry(archive: string, { name, method, packedBytes, headerAt }: Entry, target: string) {
  if (method !== STORED && method !== DEFLATED) {
    throw new ProblemError(
      "invalid-request",
      `${name} in ${archive} is packed by method ${method}, which is not read.`,
    );
  }
  const file = await open(archive);
  const local = (await file.read(Buffer.alloc(LOCAL_BYTES), 0, LOCAL_BYTES, headerAt)).buffer;
  await file.close();
  const start = headerAt + LOCAL_BYTES + local.readUInt16LE(26) + local.readUInt16LE(28);
  const packed = createReadStream(archive, { start, end: start + packedBytes - 1 });
  const output = createWriteStream(target);
  const limit = new LimitBytes(name);
  if (method === STORED) await pipeline(packed, limit, output);
  else await pipeline(packed, createInflateRaw(), limit, output);
}

async function unpackTarball(archive: string, names: readonly string[], folder: string): Promise<void> {
  const listing = promisify(execFile)("tar", ["-tzf", archive], { maxBuffer: MOST_LISTING_BYTES });
  const { stdout } = await listing.catch((error: unknown) => {
    throw new ProblemError("invalid-request", `${archive} cannot be read by tar: ${String(error).slice(0, 200)}`);
  });
  for (const member of stdout.split("\n").filter((line) => names.includes(basename(line)))) {
    const tar = spawn("tar", ["-xzOf", archive, "--", member], { stdio: ["ignore", "pipe", "ignore"] });
    try {
      await pipeline(tar.stdout, new LimitBytes(member), createWriteStream(join(folder, basename(member))));
    } finally {
      tar.kill();
    }
  }
}
