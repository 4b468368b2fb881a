import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";

/** Facts about a shared library of Linux, from its own tables. */
export interface SharedLibrary {
  readonly machine: number;
  /** Libraries that it must have beside it, by their sonames. */
  readonly needed: readonly string[];
  /** Names of functions and data that it offers. */
  readonly exported: ReadonlySet<string>;
}

/** `e_machine` of x86-64. */
export const X86_64 = 62;

const ELF_64_LITTLE = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
const SECTION_DYNAMIC = 6;
const SECTION_SYMBOLS = 11;
const TAG_NEEDED = 1;
const SYMBOL_BYTES = 24;
/** Headers and tables are read whole; a library's tables have kilobytes, large ones a megabyte. */
const MOST_TABLE_BYTES = 2 ** 26;

interface Section {
  readonly type: number;
  readonly link: number;
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Reads a library's tables without loading it; null where the file is none of 64 bits and little endian.
 * Source: System V ABI, ELF-64 object file format.
 */
export async function readLibrary(path: string): Promise<SharedLibrary | null> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const read = async (offset: number, bytes: number): Promise<Buffer> => {
      if (offset + bytes > size || bytes > MOST_TABLE_BYTES) throw new RangeError("a table ends outside its file");
      const { buffer } = await file.read(Buffer.alloc(bytes), 0, bytes, offset);
      return buffer;
    };
    const header = await read(0, 64);
    if (!header.subarray(0, ELF_64_LITTLE.length).equals(ELF_64_LITTLE)) return null;
    const [entryBytes, count] = [header.readUInt16LE(58), header.readUInt16LE(60)];
    const table = await read(Number(header.readBigUInt64LE(40)), entryBytes * count);
    const sections = Array.from({ length: count }, (_, index): Section => {
      const row = table.subarray(index * entryBytes);
      const [offset, bytes] = [Number(row.readBigUInt64LE(24)), Number(row.readBigUInt64LE(32))];
      return { type: row.readUInt32LE(4), link: row.readUInt32LE(40), offset, bytes };
    });
    const rowsOf = async (type: number, rowBytes: number) => {
      const section = sections.find((each) => each.type === type);
      const strings = sections[section?.link ?? -1];
      if (section === undefined || strings === undefined) return [];
      const [rows, names] = [await read(section.offset, section.bytes), await read(strings.offset, strings.bytes)];
      const nameAt = (offset: number) => names.toString("latin1", offset, names.indexOf(0, offset));
      const at = Array.from({ length: Math.floor(section.bytes / rowBytes) }, (_, index) => index * rowBytes);
      return at.map((offset) => ({ row: rows.subarray(offset, offset + rowBytes), nameAt }));
    };
    const dynamic = await rowsOf(SECTION_DYNAMIC, 16);
    const symbols = await rowsOf(SECTION_SYMBOLS, SYMBOL_BYTES);
    return {
      machine: header.readUInt16LE(18),
      needed: dynamic.flatMap(({ row, nameAt }) =>
        row.readBigInt64LE(0) === BigInt(TAG_NEEDED) ? [nameAt(Number(row.readBigUInt64LE(8)))] : [],
      ),
      // A symbol without a section is another library's.
      exported: new Set(
        symbols.flatMap(({ row, nameAt }) => (row.readUInt16LE(6) === 0 ? [] : [nameAt(row.readUInt32LE(0))])),
      ),
    };
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  } finally {
    await file.close();
  }
}

/** SHA-256 of a file in hex, and whether it holds this text between two zeros, as programs keep their constants. */
export async function scanFile(path: string, constant: string): Promise<{ sha256: string; holds: boolean }> {
  const wanted = Buffer.from(`\0${constant}\0`);
  const hash = createHash("sha256");
  let holds = false;
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    const text = Buffer.concat([rest, chunk]);
    holds ||= text.includes(wanted);
    rest = text.subarray(-wanted.length + 1);
  }
  return { sha256: hash.digest("hex"), holds };
}
