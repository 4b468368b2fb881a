const BLOCK = 512;

/** Regular files of a tar archive (POSIX ustar) by name; folders, links and extensions are passed over. */
export function* untar(archive: Uint8Array): Generator<{ name: string; bytes: Uint8Array }> {
  const decoder = new TextDecoder();
  const readText = (start: number, length: number) =>
    decoder
      .decode(archive.subarray(start, start + length))
      .replace(/\0.*$/s, "")
      .trim();

  for (let offset = 0; offset + BLOCK <= archive.length && archive[offset] !== 0;) {
    const name = readText(offset, 100);
    const size = Number.parseInt(readText(offset + 124, 12), 8);
    const type = readText(offset + 156, 1);
    const start = offset + BLOCK;
    if (!Number.isInteger(size) || start + size > archive.length) throw new RangeError("the archive is damaged");
    if (type === "0" || type === "") yield { name, bytes: archive.subarray(start, start + size) };
    offset = start + Math.ceil(size / BLOCK) * BLOCK;
  }
}
