import { philox4x32, STREAM, toUnitInterval } from "./philox.ts";

export type OpenEsSettings = {
  /** Keys all noise (u32). */
  seed: number;
  /** Members a generation, even: they come in mirrored pairs. */
  population: number;
  /** Standard deviation of the noise round the centre. */
  sigma: number;
  learningRate: number;
};

/** The search between two generations; the arrays are [parameters] long. */
export type OpenEsState = {
  generation: number;
  centre: Float64Array;
  /** Adam's running means of the gradient and of its square. */
  firstMoment: Float64Array;
  secondMoment: Float64Array;
};

const BETA_1 = 0.9;
const BETA_2 = 0.999;
const EPSILON = 1e-8;

/** Starts at the origin. */
export function startOpenEs(parameters: number): OpenEsState {
  const zeros = () => new Float64Array(parameters);
  return { generation: 0, centre: zeros(), firstMoment: zeros(), secondMoment: zeros() };
}

/** The members of the coming generation: centre + σε, centre − σε for every pair of neighbours in turn. */
export function sampleOpenEs({ generation, centre }: OpenEsState, settings: OpenEsSettings): Float64Array[] {
  return Array.from({ length: settings.population }, (_, member) => {
    const noise = memberNoise(settings.seed, generation, member, centre.length);
    return centre.map((value, index) => value + settings.sigma * noise[index]!);
  });
}

/**
 * The state after a generation, given the fitness of its members (higher is better) in their order: Adam up
 * the gradient estimate Σ rank(fᵢ)·εᵢ / (n·σ).
 *
 * Salimans et al., "Evolution Strategies as a Scalable Alternative to Reinforcement Learning", 2017;
 * Kingma and Ba, "Adam", 2015.
 */
export function updateOpenEs(
  { generation, centre, firstMoment, secondMoment }: OpenEsState,
  fitness: readonly number[],
  settings: OpenEsSettings,
): OpenEsState {
  const gradient = estimateGradient(generation, centre.length, fitness, settings);
  const first = firstMoment.map((mean, i) => BETA_1 * mean + (1 - BETA_1) * gradient[i]!);
  const second = secondMoment.map((mean, i) => BETA_2 * mean + (1 - BETA_2) * gradient[i]! ** 2);
  const step = generation + 1;
  const moved = centre.map((value, i) => {
    const mean = first[i]! / (1 - BETA_1 ** step);
    const square = second[i]! / (1 - BETA_2 ** step);
    return value + (settings.learningRate * mean) / (Math.sqrt(square) + EPSILON);
  });
  return { generation: step, centre: moved, firstMoment: first, secondMoment: second };
}

/** Ranks mapped to -0.5 (worst) … 0.5 (best); equals share the mean of their ranks, so a flat field has no slope. */
export function centredRanks(fitness: readonly number[]): number[] {
  const ascending = fitness.toSorted((a, b) => a - b);
  return fitness.map((value) => {
    const rank = (ascending.indexOf(value) + ascending.lastIndexOf(value)) / 2;
    return rank / (fitness.length - 1) - 0.5;
  });
}

function estimateGradient(
  generation: number,
  parameters: number,
  fitness: readonly number[],
  { seed, sigma }: OpenEsSettings,
): Float64Array {
  const gradient = new Float64Array(parameters);
  centredRanks(fitness).forEach((rank, member) => {
    const noise = memberNoise(seed, generation, member, parameters);
    for (let i = 0; i < parameters; i++) gradient[i]! += (rank * noise[i]!) / (fitness.length * sigma);
  });
  return gradient;
}

/** Standard normals [parameters], made again whenever they are wanted; an odd member mirrors the one before it. */
function memberNoise(seed: number, generation: number, member: number, parameters: number): Float64Array {
  const pair = member >>> 1;
  const sign = member % 2 === 0 ? 1 : -1;
  const noise = new Float64Array(parameters);
  for (let i = 0; i < parameters; i += 4) {
    const [a, b, c, d] = philox4x32([pair, generation, i / 4, 0], [seed, STREAM.searchNoise]);
    noise.set([...boxMuller(a, b), ...boxMuller(c, d)].slice(0, parameters - i), i);
  }
  return noise.map((value) => sign * value);
}

/** Two standard normals from two u32 words. Box and Muller, 1958. */
function boxMuller(a: number, b: number): [number, number] {
  const radius = Math.sqrt(-2 * Math.log(toUnitInterval(a)));
  const angle = 2 * Math.PI * toUnitInterval(b);
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
}
