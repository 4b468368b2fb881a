import { crc32, inflateSync } from "node:zlib";
import { ProblemError } from "../../protocol/wire/problem.ts";

/** A picture: rows from the top, `channels` bytes a pixel (1 grey, 2 grey and alpha, 3 RGB, 4 RGBA). */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 2 | 3 | 4;
  readonly pixels: Uint8Array;
}

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** Channels by colour type, for 8-bit samples without a palette. */
const CHANNELS: Readonly<Record<number, Picture["channels"]>> = { 0: 1, 2: 3, 4: 2, 6: 4 };
const MOST_PIXELS = 2 ** 26;

/**
 * Reads a PNG (W3C, third edition) of 8 bits a sample: grey or RGB, with or without alpha, not interlaced. Throws
 * `invalid-request` for any other, and for one that is broken.
 */
export function decodePng(file: Uint8Array): Picture {
  if (!SIGNATURE.every((byte, index) => file[index] === byte)) throw refuse("it is no PNG file");
  const chunks = [...readChunks(file)];
  const header = chunks[0];
  if (header?.type !== "IHDR" || header.data.length !== 13) throw refuse("it does not begin with its header");
  const view = new DataView(header.data.buffer, header.data.byteOffset);
  const [width, height, bits, colour, interlace] = [
    view.getUint32(0),
    view.getUint32(4),
    view.getUint8(8),
    view.getUint8(9),
    view.getUint8(12),
  ];
  const channels = CHANNELS[colour];
  if (bits !== 8 || channels === undefined) {
    throw refuse("it has a palette or other than 8 bits a sample: save it as 8-bit grey or RGB");
  }
  if (interlace !== 0) throw refuse("it is interlaced: save it without");
  if (width < 1 || height < 1 || width * height > MOST_PIXELS) throw refuse(`it has ${width} × ${height} pixels`);
  const rowBytes = width * channels;
  const data = Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map((chunk) => chunk.data));
  const scanlines = inflate(data, height * (rowBytes + 1));
  return { width, height, channels, pixels: unfilter(scanlines, height, rowBytes, channels) };
}

function* readChunks(file: Uint8Array): Generator<{ readonly type: string; readonly data: Uint8Array }> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  for (let at = SIGNATURE.length; ;) {
    if (at + 12 > file.length) throw refuse("it ends before its end");
    const length = view.getUint32(at);
    if (at + 12 + length > file.length) throw refuse("it ends before its end");
    const type = String.fromCharCode(...file.subarray(at + 4, at + 8));
    if (crc32(file.subarray(at + 4, at + 8 + length)) !== view.getUint32(at + 8 + length))
      throw refuse(`its ${type} is broken`);
    if (type === "IEND") return;
    yield { type, data: file.subarray(at + 8, at + 8 + length) };
    at += 12 + length;
  }
}

function inflate(data: Uint8Array, wanted: number): Uint8Array {
  try {
    const bytes = inflateSync(data, { maxOutputLength: wanted });
    if (bytes.length === wanted) return bytes;
  } catch {
    // Reported below, as too short.
  }
  throw refuse("its pixels are broken");
}

/** Takes back what each row was filtered by: nothing, left, above, their mean, or Paeth's choice. */
function unfilter(scanlines: Uint8Array, height: number, rowBytes: number, step: number): Uint8Array {
  const pixels = new Uint8Array(height * rowBytes);
  for (let y = 0; y < height; y++) {
    const filter = scanlines[y * (rowBytes + 1)] ?? 0;
    if (filter > 4) throw refuse("its pixels are broken");
    for (let x = 0; x < rowBytes; x++) {
      const at = y * rowBytes + x;
      const left = x < step ? 0 : (pixels[at - step] ?? 0);
      const above = y === 0 ? 0 : (pixels[at - rowBytes] ?? 0);
      const corner = x < step || y === 0 ? 0 : (pixels[at - rowBytes - step] ?? 0);
      const predicted = [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0;
      pixels[at] = (scanlines[y * (rowBytes + 1) + 1 + x] ?? 0) + predicted;
    }
  }
  return pixels;
}

function paeth(left: number, above: number, corner: number): number {
  const guess = left + above - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? above : corner;
}

function refuse(why: string): ProblemError {
  return new ProblemError("invalid-request", `The picture cannot be read: ${why}.`);
}
