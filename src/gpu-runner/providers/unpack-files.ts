import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createInflateRaw } from "node:zlib";
import { execFile } from "node:child_process";
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
    const read = async (offset: number, bytes: number) =>
      (await file.read(Buffer.alloc(bytes), 0, bytes, Math.max(0, offset))).buffer;
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
  if (method === STORED) await pipeline(packed, output);
  else await pipeline(packed, createInflateRaw(), output);
}

async function unpackTarball(archive: string, names: readonly string[], folder: string): Promise<void> {
  const unpacked = await mkdtemp(join(dirname(folder), "unpacking-"));
  try {
    await promisify(execFile)("tar", ["-xzf", archive, "-C", unpacked]);
    const found = await readdir(unpacked, { recursive: true, withFileTypes: true });
    for (const each of found) {
      if (each.isFile() && names.includes(each.name))
        await rename(join(each.parentPath, each.name), join(folder, each.name));
    }
  } finally {
    await rm(unpacked, { recursive: true, force: true });
  }
}
