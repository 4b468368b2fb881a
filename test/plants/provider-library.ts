/** Files like those of ONNX Runtime's providers, with the tables that an installation reads and no code. */
import { crc32, deflateRawSync } from "node:zlib";

interface LibraryFacts {
  readonly needed?: readonly string[];
  readonly exported: readonly string[];
  /** A text between zeros, such as a version. */
  readonly constant?: string;
  readonly machine?: number;
}

const HEADER_BYTES = 64;
const X86_64 = 62;

/** A shared library of 64 bits: its header, its strings, symbols and needs, and the table of these sections. */
export function writeLibrary({ needed = [], exported, constant = "", machine = X86_64 }: LibraryFacts): Buffer {
  const names = ["", ...needed, ...exported, constant];
  const offsets = names.map((_, index) => names.slice(0, index).join("\0").length + Math.min(index, 1));
  const offsetOf = (name: string) => BigInt(offsets[names.indexOf(name)]!);
  const strings = Buffer.from(`${names.join("\0")}\0`, "latin1");
  const symbols = Buffer.concat(
    ["", ...exported].map((name, index) => {
      const row = Buffer.alloc(24);
      row.writeUInt32LE(Number(offsetOf(name)), 0);
      // Section 1 holds it; the first symbol is none.
      row.writeUInt16LE(Math.min(index, 1), 6);
      return row;
    }),
  );
  const dynamic = Buffer.concat(
    needed.map((name) => {
      const row = Buffer.alloc(16);
      row.writeBigInt64LE(1n, 0);
      row.writeBigUInt64LE(offsetOf(name), 8);
      return row;
    }),
  );
  const parts = [
    { type: 3, link: 0, bytes: strings },
    { type: 11, link: 1, bytes: symbols },
    { type: 6, link: 1, bytes: dynamic },
  ];
  let at = HEADER_BYTES;
  const table = parts.map(({ type, link, bytes }) => {
    const row = Buffer.alloc(64);
    row.writeUInt32LE(type, 4);
    row.writeBigUInt64LE(BigInt(at), 24);
    row.writeBigUInt64LE(BigInt(bytes.length), 32);
    row.writeUInt32LE(link, 40);
    at += bytes.length;
    return row;
  });
  const header = Buffer.alloc(HEADER_BYTES);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  header.writeUInt16LE(machine, 18);
  header.writeBigUInt64LE(BigInt(at), 40);
  header.writeUInt16LE(64, 58);
  header.writeUInt16LE(1 + table.length, 60);
  return Buffer.concat([header, ...parts.map(({ bytes }) => bytes), Buffer.alloc(64), ...table]);
}

/** A ZIP file, such as a wheel or a NuGet package: the first file packed, the others stored. */
export function writeZip(files: Readonly<Record<string, Uint8Array>>): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const [index, [name, bytes]] of Object.entries(files).entries()) {
    const method = index === 0 ? 8 : 0;
    const packed = method === 8 ? deflateRawSync(bytes) : Buffer.from(bytes);
    const local = Buffer.alloc(30 + name.length);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(method, 8);
    local.writeUInt16LE(name.length, 26);
    local.write(name, 30);
    const entry = Buffer.alloc(46 + name.length);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(method, 10);
    entry.writeUInt32LE(crc32(bytes), 16);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(bytes.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(at, 42);
    entry.write(name, 46);
    locals.push(local, packed);
    entries.push(entry);
    at += local.length + packed.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, directory, end]);
}
