/** A tensor of a test's file; the type defines the meaning of its bytes. */
export interface WrittenTensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** A safetensors file of tensors end to end; its header's content may be changed. */
export function writeSafetensors(
  tensors: Readonly<Record<string, WrittenTensor>>,
  metadata: Readonly<Record<string, string>>,
  changes: object = {},
): Uint8Array<ArrayBuffer> {
  let at = 0;
  const entries = Object.entries(tensors).map(([name, { dtype, shape, bytes }]) => {
    const from = at;
    at += bytes.length;
    return [name, { dtype, shape, data_offsets: [from, at] }] as const;
  });
  const header = { __metadata__: metadata, ...Object.fromEntries(entries), ...changes };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const file = new Uint8Array(8 + text.length + at);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  let offset = 8 + text.length;
  for (const { bytes } of Object.values(tensors)) {
    file.set(bytes, offset);
    offset += bytes.length;
  }
  return file;
}
