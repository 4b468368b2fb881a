/** A WAV file around samples that are coded already. */
export function wrapWav(
  coding: number,
  bits: number,
  channels: number,
  data: Buffer,
  { rateHz = 8_000, guid = 0 } = {},
): Buffer {
  const format = Buffer.alloc(coding === 0xfffe ? 40 : 16);
  format.writeUInt16LE(coding, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rateHz, 4);
  format.writeUInt16LE(bits, 14);
  if (coding === 0xfffe) format.writeUInt16LE(guid, 24);
  const part = (name: string, body: Buffer) => {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(body.length);
    return Buffer.concat([Buffer.from(name, "latin1"), size, body, Buffer.alloc(body.length % 2)]);
  };
  return part(
    "RIFF",
    Buffer.concat([Buffer.from("WAVE"), part("LIST", Buffer.from("odd")), part("fmt ", format), part("data", data)]),
  );
}
