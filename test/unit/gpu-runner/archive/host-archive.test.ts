import { describe, expect, test } from "vitest";
import { ADDITION, type ArchiveGrid } from "../../../../src/gpu-runner/rollout/archive.ts";
import {
  createLocator,
  fromFloatOrder,
  listEdges,
  toFloatOrder,
} from "../../../../src/gpu-runner/rollout/archive-grid.ts";
import { openHostArchive } from "../../../../src/gpu-runner/training/host-archive.ts";
import { fc } from "../../property.ts";
import { expectSame } from "./expect-same.ts";
import { playCase, PYRIBS } from "./pyribs-vectors.ts";

/** Rows in the host's memory. */
function createRows(members: number, parameters: number) {
  const rows = new Float32Array(members * parameters);
  return {
    members,
    parameters,
    read: async (first: number, count: number) => rows.slice(first * parameters, (first + count) * parameters),
    write: async (first: number, written: Float32Array) => rows.set(written, first * parameters),
  };
}

const line: ArchiveGrid = { dims: [4], ranges: [{ low: 0, high: 1 }], annealing: null };

describe(`an archive in typed arrays is that of ${PYRIBS.source}`, () => {
  for (const [index, { batches, ...grid }] of PYRIBS.cases.entries()) {
    test(`case ${index}: ${grid.dims.join(" × ")}, ${JSON.stringify(grid.annealing)}`, async () => {
      const population = createRows(Math.max(...batches.map(({ fitness }) => fitness.length)), 1);
      const archive = openHostArchive(population, grid);
      expectSame(await playCase(population, archive, batches), batches, `case ${index}`);
    });
  }

  test("cells on edges and a rounding beside them", () => {
    expect(PYRIBS.indexed).toHaveLength(2);
    for (const { measures, cells, ...grid } of PYRIBS.indexed) {
      const locate = createLocator({ ...grid, annealing: null });
      const axes = grid.dims.length;
      expect(cells.map((_, row) => locate(Float32Array.from(measures), row * axes))).toEqual(cells);
    }
  });

  test("what is not finite is refused, and the others stand", async () => {
    expect(Object.values(PYRIBS.refused)).toEqual([true, true, true, true]);
    const archive = openHostArchive(createRows(5, 1), line);
    const { NaN: nan, POSITIVE_INFINITY: infinity } = Number;
    const fitness = Float32Array.of(nan, 1, infinity, 1, 2);
    const { statuses, values } = await archive.add(fitness, Float32Array.of(0.1, nan, 0.1, -infinity, 0.9));
    const { refused, new: isNew } = ADDITION;
    expect([...statuses]).toEqual([refused, refused, refused, refused, isNew]);
    expect([...values]).toEqual([nan, nan, nan, nan, 2]);
    expect((await archive.read()).cells).toEqual(Uint32Array.of(3));
  });
});

describe("edges", () => {
  test("order floats as words", () => {
    const floats = fc.float({ noNaN: true });
    fc.assert(
      fc.property(floats, floats, (a, b) => {
        expect(Math.sign(toFloatOrder(a) - toFloatOrder(b))).toBe(Math.sign(Number(a > b) - Number(a < b)));
        expect(fromFloatOrder(toFloatOrder(a))).toBe(a + 0);
      }),
    );
  });

  test("part the cells as the formula does", () => {
    for (const grid of [...PYRIBS.cases, ...PYRIBS.indexed]) {
      const [size, range] = [grid.dims[0]!, grid.ranges[0]!];
      const one: ArchiveGrid = { dims: [size], ranges: [range], annealing: null };
      const locate = createLocator(one);
      const edges = listEdges(one);
      expect(edges).toHaveLength(size - 1);
      for (const [cell, edge] of edges.entries()) {
        const before = fromFloatOrder(toFloatOrder(edge) - 1);
        expect([locate(edges, cell), locate(Float32Array.of(before), 0)]).toEqual([cell + 1, cell]);
      }
    }
  });
});

describe("elites", () => {
  test("come back as they were written, in their order, and are added to", async () => {
    const rows = createRows(2, 3);
    await rows.write(0, Float32Array.of(1, 2, 3, 4, 5, 6));
    const archive = openHostArchive(rows, line);
    await archive.add(Float32Array.of(5, 6), Float32Array.of(0.9, 0.1));
    const elites = await archive.read();
    const other = openHostArchive(rows, line);
    await other.write(elites);
    expect(await other.read()).toEqual(elites);
    const { statuses } = await other.add(Float32Array.of(5, 7), Float32Array.of(0.9, 0.3));
    expect([...statuses]).toEqual([ADDITION.notAdded, ADDITION.new]);
    expect((await other.read()).genomes).toEqual(Float32Array.of(1, 2, 3, 4, 5, 6, 4, 5, 6));
    const twice = { ...elites, cells: Uint32Array.of(3, 3) };
    await expect(other.write(twice)).rejects.toThrow(RangeError);
  });

  test("have children near them, along the line to another, and within bounds", async () => {
    const rows = createRows(400, 2);
    const archive = openHostArchive(rows, line);
    const emission = { seed: 1, generation: 3, sigma: 0.1, lineSigma: 0, low: -10, high: 10 };
    await expect(archive.emit(emission)).rejects.toThrow(RangeError);
    await rows.write(0, Float32Array.of(1, 1, -1, 2));
    await archive.add(Float32Array.of(5, 6), Float32Array.of(0.9, 0.1));
    await archive.emit(emission);
    const children = await rows.read(0, 400);
    const first = Array.from({ length: 400 }, (_, row) => children[2 * row]!);
    const ofOne = first.filter((value) => value > 0);
    // Half of them within four standard deviations of a coin, and noise of the size that was asked for.
    expect(Math.abs(ofOne.length - 200)).toBeLessThan(40);
    const spread = Math.sqrt(ofOne.reduce((sum, value) => sum + (value - 1) ** 2, 0) / ofOne.length);
    expect(spread).toBeGreaterThan(0.08);
    expect(spread).toBeLessThan(0.12);
    await archive.emit({ ...emission, sigma: 0, lineSigma: 0.5, low: -2, high: 1.5 });
    const lined = await rows.read(0, 400);
    for (let row = 0; row < 400; row++) {
      const [x, y] = [lined[2 * row]!, lined[2 * row + 1]!];
      expect(x).toBeGreaterThanOrEqual(-2);
      expect(y).toBeLessThanOrEqual(1.5);
      // The line through both: y = 1.5 − x/2.
      if (x > -2 && x < 1.5 && y > -2 && y < 1.5) expect(y).toBeCloseTo(1.5 - x / 2, 5);
    }
  });
});
