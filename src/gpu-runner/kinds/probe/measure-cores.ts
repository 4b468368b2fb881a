import { cpus } from "node:os";
import { mlpPopulation } from "../../../../kernels/mlp-population/mlp-population.kernel.ts";
import { openPopulation } from "../../devices/cpu-simd/open-population.ts";

/** Durations on several threads and on one, and the cores used by other processes meanwhile. */
export interface CoreTimes {
  readonly aloneMs: number;
  readonly togetherMs: number;
  /** Cores that other processes kept busy while the threads ran. */
  readonly othersCores: number;
}

const SHAPE = { members: 4_096, samples: 4, inputs: 16, hidden: 32, outputs: 8, layers: 3, activation: 2 };
const SEED = 1;
const ROUNDS = 5;
/** Least speed-up as a share of the claimed cores: two threads of one core are hardly faster than one. */
const LEAST_SHARE = 0.25;

/** Times the population kernel on one thread and on several; the fastest round counts. */
export async function measureCores(threads: number): Promise<CoreTimes> {
  const alone = await timePopulation(1);
  const together = threads === 1 ? alone : await timePopulation(threads);
  return { aloneMs: alone.fastestMs, togetherMs: together.fastestMs, othersCores: together.othersCores };
}

/** Judges the claimed cores: a speed-up that is too small refutes them, unless other processes used them. */
export function judgeCores(
  { aloneMs, togetherMs, othersCores }: CoreTimes,
  cores: number,
): { found: string; ok: boolean } {
  const speedUp = aloneMs / togetherMs;
  const found = `${speedUp.toFixed(1)} times as fast as one thread`;
  if (speedUp >= LEAST_SHARE * cores) return { found, ok: true };
  if (othersCores > 0.25 * cores)
    return { found: `${found}, not judged: others kept ${othersCores.toFixed(1)} cores busy`, ok: true };
  return { found, ok: false };
}

async function timePopulation(threads: number): Promise<{ fastestMs: number; othersCores: number }> {
  const population = await openPopulation(SHAPE, threads);
  try {
    population.upload(mlpPopulation.generate(SHAPE, SEED));
    await population.run();
    const busyBefore = readBusyMs();
    const own = process.cpuUsage();
    const startedAt = performance.now();
    let fastestMs = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS; round++) {
      const roundAt = performance.now();
      await population.run();
      fastestMs = Math.min(fastestMs, performance.now() - roundAt);
    }
    const tookMs = performance.now() - startedAt;
    const { user, system } = process.cpuUsage(own);
    const othersMs = readBusyMs() - busyBefore - (user + system) / 1e3;
    return { fastestMs, othersCores: Math.max(0, othersMs / tookMs) };
  } finally {
    await population.release();
  }
}

/** Busy time of all cores since the start, by any process; the system counts in hundredths of a second. */
function readBusyMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}
