import { open } from "node:fs/promises";

/** A file of an archive. */
export interface Entry {
  /** With slashes, without a leading one; ASCII. */
  readonly path: string;
  /** Bytes, or the file that has them. */
  readonly content: Uint8Array | string;
  readonly isProgram?: boolean;
}

const BLOCK = 512;
const CHUNK_BYTES = 1 << 20;
/** Of every file, since archives of equal files shall be equal: 2020-01-01. */
const MODIFIED_S = 1_577_836_800;
const MODES = { program: 0o755, file: 0o644 } as const;

/** A tar archive (POSIX ustar) in pieces, in the order of the paths: its bytes depend on the entries alone. */
export async function* writeTar(entries: readonly Entry[]): AsyncGenerator<Uint8Array> {
  for (const entry of entries.toSorted((one, other) => (one.path < other.path ? -1 : 1))) {
    if (typeof entry.content !== "string") {
      yield writeHeader(entry, entry.content.byteLength);
      yield* pad(entry.content);
      continue;
    }
    const file = await open(entry.content);
    try {
      const { size } = await file.stat();
      yield writeHeader(entry, size);
      let written = 0;
      for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: CHUNK_BYTES })) {
        written += (chunk as Buffer).byteLength;
        yield chunk as Buffer;
      }
      if (written !== size) throw new Error(`${entry.content} changed while it was packed`);
      yield new Uint8Array(-size & (BLOCK - 1));
    } finally {
      await file.close();
    }
  }
  yield new Uint8Array(2 * BLOCK);
}

function* pad(bytes: Uint8Array): Generator<Uint8Array> {
  yield bytes;
  yield new Uint8Array(-bytes.byteLength & (BLOCK - 1));
}

function writeHeader({ path, isProgram = false }: Entry, sizeBytes: number): Uint8Array {
  const header = Buffer.alloc(BLOCK);
  const [prefix, name] = splitPath(path);
  const octal = (value: number, offset: number, digits: number) =>
    header.write(value.toString(8).padStart(digits, "0"), offset, "ascii");
  header.write(name, 0, "ascii");
  octal(isProgram ? MODES.program : MODES.file, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(sizeBytes, 124, 11);
  octal(MODIFIED_S, 136, 11);
  header.write("        0", 148, "ascii");
  header.write("ustar\u000000", 257, "ascii");
  header.write(prefix, 345, "ascii");
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  header[154] = 0;
  return header;
}

/** A path as prefix and name, of at most 155 and 100 bytes. Throws where it is longer, or not ASCII. */
function splitPath(path: string): readonly [prefix: string, name: string] {
  if (/[^\x20-\x7e]/.test(path)) throw new RangeError(`${path} has characters that archives cannot hold`);
  if (path.length <= 100) return ["", path];
  const at = path.indexOf("/", path.length - 101);
  if (at === -1 || at > 155) throw new RangeError(`${path} is too long for an archive`);
  return [path.slice(0, at), path.slice(at + 1)];
}
