import { describe, expect, it } from "vitest";
import {
  countRecordBytes,
  readReplay,
  type ReplayField,
  REPLAY_FIELDS,
  writeReplay,
} from "../../../src/protocol/jobs/evaluation/replay-file.ts";

const fields: ReplayField[] = [
  ...REPLAY_FIELDS,
  { name: "action", type: "<f4", count: 1 },
  { name: "state.place", type: "<f4", count: 3 },
  { name: "state.stops", type: "<i4", count: 1 },
  { name: "cells", type: "<u2", count: 2 },
];
const records = [
  [1, 70_000, 2, 0, 0, 0, 1, 0.5, -0.25, 8, -3, 65_535, 0],
  [1, 70_000, 2, 1, -1.5, 3, Number.NaN, 0, 0.125, 1e9, 7, 1, 512],
];

describe("a file of a replay", () => {
  it("is read as it was written, field by field", () => {
    const read = readReplay(writeReplay(fields, records));
    expect(read.fields).toEqual(fields);
    expect(read.records.map((record) => [...record])).toEqual(records);
  });

  it("has its records behind a header that ends at a multiple of 64 bytes, as npy wants it", () => {
    const file = writeReplay(fields, records);
    const headerBytes = file.length - records.length * countRecordBytes(fields);
    expect(headerBytes % 64).toBe(0);
    expect(file[headerBytes - 1]).toBe(0x0a);
    expect(new TextDecoder().decode(file.subarray(1, 6))).toBe("NUMPY");
    expect(new TextDecoder().decode(file.subarray(10, headerBytes))).toContain("('state.place', '<f4', (3,))");
  });

  it("may have no record, may stand anywhere in a buffer, and is refused where it is cut off or something else", () => {
    expect(readReplay(writeReplay(fields, [])).records).toEqual([]);
    const file = writeReplay(fields, records);
    const shifted = new Uint8Array(file.length + 3);
    shifted.set(file, 3);
    expect(readReplay(shifted.subarray(3)).records).toHaveLength(2);
    expect(() => readReplay(file.subarray(0, -1))).toThrow("ends before its last record");
    expect(() => readReplay(new TextEncoder().encode("<!doctype html>"))).toThrow("no npy file");
    const other = Buffer.from(Buffer.from(file).toString("latin1").replace("'<i4'", "'<c8'"), "latin1");
    expect(() => readReplay(other)).toThrow("The field state.stops is of the unknown type <c8.");
    expect(() => readReplay(Buffer.concat([file, Buffer.alloc(1)]))).toThrow("goes on behind its last record");
  });

  it.each([
    // An array of records that are no structures, as NumPy writes it.
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967295,), }\n",
    "{'descr': [], 'fortran_order': False, 'shape': (4294967295,), }\n",
    "{'descr': [('step', '<u4')], 'fortran_order': True, 'shape': (0,), }\n",
    "{'descr': [('step', '<u4', (2, 2))], 'fortran_order': False, 'shape': (0,), }\n",
    "{'descr': [('step', '<u4')], 'fortran_order': False, 'shape': (), }\n",
    "('step', '<u4')",
    "",
  ])("is not taken from a file of another kind: %j", (header) => {
    const file = Buffer.concat([Buffer.from("\x93NUMPY\x01\x00\0\0", "latin1"), Buffer.from(header)]);
    file.writeUInt16LE(header.length, 8);
    expect(() => readReplay(file)).toThrow("no npy file of a replay");
  });
});
