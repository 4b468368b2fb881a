import type { HostWork } from "./host-work.ts";

const GENES = 0;
const TOURNAMENT = 1;

/** One generation; the same draws as the kernel's, so the same children. */
export const evolve: HostWork = (inputs, shape) => {
  const { population, fitness, settings, key } = inputs as Record<"population" | "fitness" | "settings", Float32Array> &
    Record<"key", Int32Array>;
  const { members, genes, tournament, elites } = shape as Record<"members" | "genes" | "tournament" | "elites", number>;
  const [rate = 0, sigma = 0, lowest = 0, highest = 0] = settings;
  const [seed = 0, generation = 0] = key;
  const draws = Math.floor(rate * 2 ** 31);
  const worth = Float32Array.from(fitness, (value) => (Number.isNaN(value) ? Number.NEGATIVE_INFINITY : value));
  const ranked = new Uint32Array(members);
  const children = new Float32Array(members * genes);
  const words = new Uint32Array(4);

  function selectParent(child: number, parent: number): number {
    let winner = members;
    for (let draw = parent * tournament; draw < (parent + 1) * tournament; draw++) {
      philox(draw >>> 2, child, TOURNAMENT, seed, generation, words);
      // Exact: 32 bits times at most 14.
      const contestant = Math.floor((words[draw & 3]! * members) / 2 ** 32);
      const gain = winner === members ? 1 : worth[contestant]! - worth[winner]!;
      if (gain > 0 || (gain === 0 && contestant < winner)) winner = contestant;
    }
    return winner * genes;
  }

  return () => {
    for (let member = 0; member < members; member++) ranked[member] = member;
    ranked.sort((a, b) => worth[b]! - worth[a]! || a - b);
    for (let child = 0; child < elites; child++) {
      children.set(population.subarray(ranked[child]! * genes, (ranked[child]! + 1) * genes), child * genes);
    }
    for (let child = elites; child < members; child++) {
      const first = selectParent(child, 0);
      const second = selectParent(child, 1);
      for (let gene = 0; gene < genes; gene++) {
        if ((gene & 3) === 0) philox(gene >>> 2, child, GENES, seed, generation, words);
        const word = words[gene & 3]!;
        let value = population[((word & 1) === 0 ? first : second) + gene]!;
        if (word >>> 1 < draws) {
          value = Math.min(highest, Math.max(lowest, value + sigma * normal(word >>> 1, draws)));
        }
        children[child * genes + gene] = value;
      }
    }
    return [children];
  };
};

/** Philox4x32-10 of the counter (c0, c1, c2, 0) and the key (k0, k1); all in 32-bit integers. */
function philox(c0: number, c1: number, c2: number, k0: number, k1: number, words: Uint32Array): void {
  let c3 = 0;
  for (let round = 0; round < 10; round++) {
    const low0 = c0 & 0xffff;
    const low2 = c2 & 0xffff;
    const upper0 = (Math.imul(0xd251, low0) + (Math.imul(0x1f53, low0) >>> 16)) | 0;
    const upper2 = (Math.imul(0xcd9e, low2) + (Math.imul(0x8d57, low2) >>> 16)) | 0;
    const lower0 = (Math.imul(0x1f53, c0 >>> 16) + (upper0 & 0xffff)) | 0;
    const lower2 = (Math.imul(0x8d57, c2 >>> 16) + (upper2 & 0xffff)) | 0;
    const high0 = (Math.imul(0xd251, c0 >>> 16) + (upper0 >>> 16) + (lower0 >>> 16)) | 0;
    const high2 = (Math.imul(0xcd9e, c2 >>> 16) + (upper2 >>> 16) + (lower2 >>> 16)) | 0;
    const next1 = Math.imul(0xcd9e8d57, c2);
    const next3 = Math.imul(0xd2511f53, c0);
    c0 = high2 ^ c1 ^ k0;
    c2 = high0 ^ c3 ^ k1;
    c1 = next1;
    c3 = next3;
    k0 = (k0 + 0x9e3779b9) | 0;
    k1 = (k1 + 0xbb67ae85) | 0;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

/** The kernel's approximation of the normal quantile of (draw + ½)/draws. */
function normal(draw: number, draws: number): number {
  const mirrored = draws - 1 - draw;
  const outer = Math.min(draw, mirrored);
  const tail = (outer + 0.5) / draws;
  const x = (draws - 1 - 2 * outer) / draws;
  const w = -Math.log(4 * tail * (1 - tail));
  const quotient = w < 5 ? evaluateCentre(w * 0.4 - 1) : evaluateTail((Math.sqrt(w) - 3.441824) / 1.205756);
  return draw < mirrored ? -x * quotient : x * quotient;
}

function evaluateCentre(u: number): number {
  let sum = 5.0248957e-5;
  sum = sum * u + 0.0002956563;
  sum = sum * u - 0.0011957826;
  sum = sum * u - 0.00060540931;
  sum = sum * u + 0.012062076;
  sum = sum * u - 0.027704192;
  sum = sum * u - 0.036923259;
  sum = sum * u + 0.87200677;
  return sum * u + 2.1233134;
}

function evaluateTail(u: number): number {
  let sum = -0.00094985764;
  sum = sum * u + 0.0027269742;
  sum = sum * u - 0.0034459827;
  sum = sum * u + 0.0037864672;
  sum = sum * u - 0.0056884573;
  sum = sum * u + 0.0075428448;
  sum = sum * u + 1.7170651;
  return sum * u + 4.6342254;
}
