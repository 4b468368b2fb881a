import { describe, expect, it } from "vitest";
import {
  decodeArchive,
  decodeArchiveHead,
  encodeArchive,
  type FiledElites,
} from "../../../src/protocol/policies/archive-file.ts";
import { parseJson } from "../../../src/protocol/wire/parse-json.ts";

const description = { environment: "arm", network: null, parameters: 3, dims: [2, 2], offset: 0, prunedFrom: null };
const ranges = [0, 1].map(() => ({ low: 0, high: 1 }));
const elites: FiledElites = {
  cells: Uint32Array.of(0, 3),
  fitness: Float32Array.of(1, 2),
  measures: Float32Array.of(0, 0, 1, 1),
  thresholds: Float32Array.of(1, 2),
  genomes: Float32Array.of(1, 2, 3, 4, 5, 6),
};
const { bytes } = encodeArchive({ ...description, ranges }, elites, "int8");

/** The same file with another header of the same length or shorter, filled up. */
function withHeader(change: (header: any) => void): Uint8Array<ArrayBuffer> {
  const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  const header = parseJson(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  change(header);
  const file = bytes.slice();
  file.set(new TextEncoder().encode(JSON.stringify(header).padEnd(length)), 8);
  return file;
}

describe("an archive's file", () => {
  it("is read as it was written", () => {
    const { genomes, cells } = decodeArchive(bytes);
    expect(cells).toEqual(elites.cells);
    genomes.forEach((value, at) => expect(value).toBeCloseTo(elites.genomes[at]!, 1));
  });

  it.each<[string, (header: any) => void, string]>([
    ["fewer cells than its summary says", (header) => (header.cells.data_offsets = [0, 4]), "not as many"],
    ["fewer measures", (header) => (header.measures.data_offsets = [0, 8]), "not as many"],
    ["a place before its arrays", (header) => (header.cells.data_offsets = [-8, 0]), "data_offsets"],
  ])("is refused with %s", (_, change, message) => {
    const file = withHeader(change);
    expect(() => decodeArchiveHead(file)).toThrow(message);
    expect(() => decodeArchive(file)).toThrow(message);
  });

  it("is refused without a scale for each genome", () => {
    const file = withHeader((header) => (header.scales.data_offsets = header.scales.data_offsets.map(() => 0)));
    expect(() => decodeArchive(file)).toThrow("a scale for each genome");
  });
});
