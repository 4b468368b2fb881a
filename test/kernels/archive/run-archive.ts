/** Runs archives on this machine's device, and prints the results as one line of JSON. */
import { arm } from "../../../kernels/environments/arm/arm.environment.ts";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import { openGpuArchive } from "../../../src/gpu-runner/rollout/gpu/gpu-archive.ts";
import { openHostArchive } from "../../../src/gpu-runner/training/host-archive.ts";
import type { Archive, ArchiveGrid } from "../../../src/gpu-runner/rollout/archive.ts";
import { BufferPool } from "../../../src/gpu-runner/devices/gpu/buffer-pool.ts";
import { openGpu } from "../../../src/gpu-runner/devices/gpu/device.ts";
import { storageUsage } from "../../../src/gpu-runner/rollout/gpu/rollout-program.ts";
import type { MemberPart } from "../../../src/gpu-runner/rollout/gpu/member-parts.ts";
import { openGpuPopulation } from "../../../src/gpu-runner/rollout/gpu/open-gpu-population.ts";
import { RowMover } from "../../../src/gpu-runner/rollout/gpu/row-mover.ts";
import { playCase, PYRIBS } from "../../unit/gpu-runner/archive/pyribs-vectors.ts";

const gpu = await openGpu((reason) => console.error(reason));
const { device } = gpu;
const pool = new BufferPool(device);

/** A population of rows alone, in parts of this many members. */
async function openRows(members: number, parameters: number, partMembers = members) {
  const mover = new RowMover({ device, pool }, parameters);
  const parts: (MemberPart & { readonly weights: GPUBuffer })[] = [];
  for (let first = 0; first < members; first += partMembers) {
    const count = Math.min(partMembers, members - first);
    parts.push({ first, count, weights: await pool.acquireSurely(4 * parameters * count, storageUsage()) });
  }
  return {
    parameters,
    parts,
    take: async (index: number) => parts[index]!.weights,
    async write(first: number, rows: Float32Array<ArrayBuffer>) {
      for (const part of parts) {
        const own = rows.slice((part.first - first) * parameters, (part.first + part.count - first) * parameters);
        if (own.length > 0) await mover.write(part, part.weights, 0, own);
      }
    },
    async read(first: number, count: number) {
      const rows = new Float32Array(members * parameters);
      for (const part of parts) {
        const own = rows.subarray(part.first * parameters, (part.first + part.count) * parameters);
        await mover.read(part, part.weights, 0, own);
      }
      return rows.slice(first * parameters, (first + count) * parameters);
    },
    release: () => parts.forEach(({ weights }) => pool.release(weights)),
  };
}

const played = [];
for (const lanes of [7, 64, 256]) {
  for (const [index, { batches, ...grid }] of PYRIBS.cases.entries()) {
    // Pipelines take longest; one size shall do for most.
    if (lanes !== 64 && index % 2 === 0) continue;
    const rows = await openRows(Math.max(...batches.map(({ fitness }) => fitness.length)), 1);
    const archive = await openGpuArchive({ device, pool }, rows, grid, lanes);
    played.push({ lanes, index, batches: await playCase(rows, archive, batches) });
    await archive.release();
    rows.release();
  }
}

// Rows of solutions in three parts, crowded into few cells, against the one in typed arrays.
const [members, parameters] = [500, 10];
const crowded: ArchiveGrid = {
  dims: [4, 3],
  ranges: [
    { low: 0, high: 1 },
    { low: -1, high: 1 },
  ],
  annealing: { learningRate: 0.01, thresholdMin: -3 },
};
async function playCrowded(archive: Archive, rows: Awaited<ReturnType<typeof openRows>> | HostRows) {
  for (let batch = 0; batch < 4; batch++) {
    await rows.write(0, seededUniform(5, 10 + batch, members * parameters));
    // Few values, so that many are equal.
    const fitness = seededUniform(5, 20 + batch, members).map((value) => Math.round(8 * value) / 4);
    if (batch === 2) fitness[17] = Number.NaN;
    await archive.add(fitness, seededUniform(5, 30 + batch, members * 2));
  }
  const elites = await archive.read();
  const emission = { seed: 9, generation: 4, sigma: 0.1, lineSigma: 0.3, low: -0.9, high: 1.1 };
  await archive.emit(emission);
  return { ...elites, children: await rows.read(0, members) };
}
type HostRows = ReturnType<typeof createHostRows>;
function createHostRows() {
  const all = new Float32Array(members * parameters);
  return {
    members,
    parameters,
    write: async (first: number, rows: Float32Array<ArrayBuffer>) => all.set(rows, first * parameters),
    read: async (first: number, count: number) => all.slice(first * parameters, (first + count) * parameters),
  };
}
const hostRows = createHostRows();
const expected = await playCrowded(openHostArchive(hostRows, crowded), hostRows);
const crowds = [];
for (const [lanes, part] of [
  [1, 500],
  [32, 192],
  [256, 64],
] as const) {
  const rows = await openRows(members, parameters, part);
  const archive = await openGpuArchive({ device, pool }, rows, crowded, lanes);
  const mine = await playCrowded(archive, rows);
  const other = await openGpuArchive({ device, pool }, rows, crowded, lanes);
  await other.write(mine);
  await other.emit({ seed: 9, generation: 4, sigma: 0.1, lineSigma: 0.3, low: -0.9, high: 1.1 });
  const again = await rows.read(0, members);
  crowds.push({
    lanes,
    sameCells: same(mine.cells, expected.cells) && same(mine.fitness, expected.fitness),
    sameMeasures: same(mine.measures, expected.measures),
    sameGenomes: same(mine.genomes, expected.genomes),
    thresholds: [...mine.thresholds],
    thresholdError: farthest(mine.thresholds, expected.thresholds),
    childError: farthest(mine.children, expected.children),
    sameAgain: same(again, mine.children),
  });
  await archive.release();
  await other.release();
  rows.release();
}

// As trainings have it: through a population.
const population = await openGpuPopulation(
  { device, pool },
  { environment: arm, network: { kind: "direct" }, members: 40 },
);
const archive = await population.openArchive!({
  dims: [10, 10],
  ranges: [0, 1].map(() => ({ low: 0, high: 1 })),
  annealing: null,
});
const genomes = seededUniform(1, 0, 40 * 100).map((value) => 0.5 + 0.5 * value);
await population.write(0, genomes);
const spread = seededUniform(2, 0, 80).map((value) => 0.5 + 0.5 * value);
await archive.add(seededUniform(1, 1, 40), spread);
const kept = await archive.read();
await archive.emit({ seed: 1, generation: 1, sigma: 0, lineSigma: 0, low: 0, high: 1 });
const copies = await population.read(0, 40);
const rowsOf = (all: Float32Array) =>
  new Set(Array.from({ length: all.length / 100 }, (_, row) => all.subarray(100 * row, 100 * row + 100).join()));
const known = rowsOf(kept.genomes);
const ofPopulation = {
  elites: archive.filled,
  ownGenomes: [...known].every((row) => rowsOf(genomes).has(row)),
  childrenOfElites: [...rowsOf(copies)].every((row) => known.has(row)),
};
await archive.release();
await population.release();

// More cells along an axis than a call takes arguments.
const few = await openRows(3, 1);
const wide = await openGpuArchive({ device, pool }, few, {
  dims: [200_000],
  ranges: [{ low: 0, high: 1 }],
  annealing: null,
});
await wide.add(Float32Array.of(1, 2, 3), Float32Array.of(0, 0.5, 1));
const wideCells = [...(await wide.read()).cells];
await wide.release();
few.release();

console.log(JSON.stringify({ played, crowds, ofPopulation, wideCells, liveBytes: pool.counters.liveBytes }));
gpu.throwUncaptured();
device.destroy();

function same(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  return a.length === b.length && Array.from(a).every((number, index) => number === b[index]);
}

function farthest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Array.from(a).reduce((most, number, index) => Math.max(most, Math.abs(number - b[index]!)), 0);
}
