/**
 * Episodes step by step as one npy file of records (NumPy's `numpy.lib.format`), which `numpy.load` reads as a structured
 * array: a record for each state, those of an episode together. The header names every field, so that a reader needs to
 * know nothing of the environment.
 */
const TYPES = {
  "|u1": [1, "getUint8", "setUint8"],
  "<u2": [2, "getUint16", "setUint16"],
  "<u4": [4, "getUint32", "setUint32"],
  "<i4": [4, "getInt32", "setInt32"],
  "<f4": [4, "getFloat32", "setFloat32"],
} as const;
type NpyType = keyof typeof TYPES;

/** So many numbers of one type under a name. */
export interface ReplayField {
  readonly name: string;
  readonly type: NpyType;
  readonly count: number;
}

/** First fields of every record; the state's fields follow, each as `state.` and its name. */
export const REPLAY_FIELDS = [
  { name: "entrant", type: "<u2", count: 1 },
  { name: "member", type: "<u4", count: 1 },
  { name: "episode", type: "<u4", count: 1 },
  { name: "step", type: "<u4", count: 1 },
  { name: "reward", type: "<f4", count: 1 },
  { name: "cause", type: "|u1", count: 1 },
] as const satisfies readonly ReplayField[];

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0] as const;
const PREAMBLE_BYTES = MAGIC.length + 2;
const ALIGNMENT = 64;
const FIELD = String.raw`\('([^']+)', '([<|][a-z]\d)'(?:, \(([1-9]\d{0,6}),\))?\)`;
const FIELDS = new RegExp(FIELD, "g");
/** A header as it is written here: what else there may be in one, no file of ours has. */
const HEADER = new RegExp(
  String.raw`^\{'descr': \[(${FIELD}(?:, ${FIELD})*)\], 'fortran_order': False, 'shape': \((\d{1,15}),\), \} *\n$`,
);

/** Bytes of a record of these fields. */
export function countRecordBytes(fields: readonly ReplayField[]): number {
  return fields.reduce((sum, { type, count }) => sum + TYPES[type][0] * count, 0);
}

/** A file of records, each the numbers of all fields in their order. */
export function writeReplay(
  fields: readonly ReplayField[],
  records: readonly ArrayLike<number>[],
): Uint8Array<ArrayBuffer> {
  const descr = fields.map(({ name, type, count }) => `('${name}', '${type}'${count === 1 ? "" : `, (${count},)`})`);
  const text = `{'descr': [${descr.join(", ")}], 'fortran_order': False, 'shape': (${records.length},), }`;
  const headerBytes = ALIGNMENT * Math.ceil((PREAMBLE_BYTES + text.length + 1) / ALIGNMENT);
  const file = new Uint8Array(headerBytes + countRecordBytes(fields) * records.length);
  const view = new DataView(file.buffer);
  file.set(MAGIC);
  view.setUint16(MAGIC.length, headerBytes - PREAMBLE_BYTES, true);
  file.set(new TextEncoder().encode(text.padEnd(headerBytes - PREAMBLE_BYTES - 1)), PREAMBLE_BYTES);
  file[headerBytes - 1] = 0x0a;
  let at = headerBytes;
  for (const record of records) {
    let index = 0;
    for (const { type, count } of fields) {
      const [bytes, , set] = TYPES[type];
      for (let last = index + count; index < last; at += bytes) view[set](at, record[index++]!, true);
    }
  }
  return file;
}

/** The fields of a file, and its records as numbers in their order. Throws where it is no such file. */
export function readReplay(file: Uint8Array): {
  readonly fields: readonly ReplayField[];
  readonly records: readonly Float64Array[];
} {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < PREAMBLE_BYTES || MAGIC.some((byte, index) => file[index] !== byte)) {
    throw new TypeError("This is no npy file.");
  }
  const headerBytes = PREAMBLE_BYTES + view.getUint16(MAGIC.length, true);
  const header = HEADER.exec(new TextDecoder().decode(file.subarray(PREAMBLE_BYTES, headerBytes)));
  if (header === null) throw new TypeError("This is no npy file of a replay.");
  const fields = [...header[1]!.matchAll(FIELDS)].map(([, name = "", type, count]): ReplayField => {
    if (type === undefined || !(type in TYPES))
      throw new TypeError(`The field ${name} is of the unknown type ${type}.`);
    return { name, type: type as NpyType, count: Number(count ?? 1) };
  });
  const total = Number(header.at(-1));
  const end = headerBytes + total * countRecordBytes(fields);
  // Before room is made for so many: a few bytes may say any number.
  if (file.length < end) throw new TypeError("The file ends before its last record.");
  if (file.length > end) throw new TypeError("The file goes on behind its last record.");
  const width = fields.reduce((sum, { count }) => sum + count, 0);
  let at = headerBytes;
  const records = Array.from({ length: total }, () => {
    const record = new Float64Array(width);
    let index = 0;
    for (const { type, count } of fields) {
      const [bytes, get] = TYPES[type];
      for (let last = index + count; index < last; at += bytes) record[index++] = view[get](at, true);
    }
    return record;
  });
  return { fields, records };
}
