import { crc32, deflateSync } from "node:zlib";
import type { Picture } from "../../../src/cli/infer/decode-png.ts";

function chunk(type: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}

/** A PNG whose n-th row is filtered by the n-th filter in turn, as the specification defines them. */
export function encodePng(
  { width, height, channels, pixels }: Picture,
  { bits = 8, interlace = 0, colour = [0, 0, 4, 2, 6][channels] ?? 0 } = {},
): Buffer {
  const rowBytes = width * channels;
  const at = (x: number, y: number) => (x < 0 || y < 0 ? 0 : (pixels[y * rowBytes + x] ?? 0));
  const rows = Array.from({ length: height }, (_, y) => {
    const row = Buffer.alloc(rowBytes + 1);
    row[0] = y % 5;
    for (let x = 0; x < rowBytes; x++) {
      const [a, b, c] = [at(x - channels, y), at(x, y - 1), at(x - channels, y - 1)];
      const estimate = a + b - c;
      const nearest = [a, b, c].toSorted((p, q) => Math.abs(estimate - p) - Math.abs(estimate - q))[0] ?? 0;
      row[x + 1] = (at(x, y) - [0, a, b, Math.floor((a + b) / 2), nearest][y % 5]! + 512) % 256;
    }
    return row;
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([bits, colour, 0, 0, interlace], 8);
  const data = deflateSync(Buffer.concat(rows));
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("tEXt", Buffer.from("Comment\0of no use")),
    // Readers join them.
    chunk("IDAT", data.subarray(0, 5)),
    chunk("IDAT", data.subarray(5)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
