import { countStateWords, type EnvironmentSpec } from "../../../../kernels/environments/environment-spec.ts";
import {
  countOutputs,
  countParameters,
  type PolicyLayer,
  spreadAction,
} from "../../../../kernels/rollout/policy-layout.ts";
import type { PolicyNetwork } from "../../../protocol/models/policy-network.ts";

/** Addresses of a thread's data in the memory that all threads share; see rollout.as. */
export interface ProgramPlaces {
  /** Arguments of `placeShared`. */
  readonly shared: readonly number[];
  /** Base and spread that turn outputs into continuous actions. */
  readonly spread: readonly number[];
  /** Arguments of `placeOwn`, by thread. */
  readonly own: readonly (readonly number[])[];
}

/** Kinds of work for threads: each takes its share of the total, and the arguments of the work. */
export const WORK = ["rollOut", "perturb", "recombine", "breed"] as const;
export type WorkName = (typeof WORK)[number];

/** Program of a thread, ready for any kind of work. */
export type CpuProgram = Readonly<Record<WorkName | "replay", (...numbers: number[]) => void>>;

/** Exports of rollout.as and the files around it. */
type Exports = CpuProgram & Readonly<Record<"placeShared" | "placeOwn" | "spreadActions", CpuProgram["replay"]>>;

/** Instantiates the program of a thread, by its number from 0. */
export async function startCpuProgram(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  { shared, spread, own }: ProgramPlaces,
  thread: number,
): Promise<CpuProgram> {
  const instance = await WebAssembly.instantiate(module, { env: { memory } });
  const program = instance.exports as unknown as Exports;
  program.placeShared(...shared);
  program.spreadActions(...spread);
  program.placeOwn(...(own[thread] ?? []));
  return program;
}

/** First address after the program's own data. */
const FIRST_BYTE = 65_536;
const VECTOR_BYTES = 16;
/** Cache line, at whose multiples arrays begin. */
const LINE_BYTES = 64;
/** Vectors of a thread's lane state; see rollout.as. */
const LANE_VECTORS = 8;

/** Sixteen floats: the unit of noise; see noise.as. */
export const GROUP_BYTES = 64;

/** Allocates a memory from its beginning. */
export class Places {
  sizeBytes: number;

  constructor(firstByte = FIRST_BYTE) {
    this.sizeBytes = firstByte;
  }

  take(bytes: number): number {
    const at = this.sizeBytes;
    this.sizeBytes += Math.ceil(bytes / LINE_BYTES) * LINE_BYTES;
    return at;
  }
}

/** Addresses of all data of a population except its results, whose size differs from call to call. */
export function placePopulation(
  places: Places,
  environment: EnvironmentSpec,
  network: PolicyNetwork,
  layers: readonly PolicyLayer[],
  rowsBytes: number,
  threads: number,
) {
  const at = {
    widths: places.take(4 * (layers.length + 1)),
    activations: places.take(4 * layers.length),
    taken: places.take(4),
    rows: places.take(rowsBytes),
  };
  const { base, spread } = spreadAction(network, environment.action);
  const own = Array.from({ length: threads }, () => placeThread(places, environment, layers));
  const shared = [at.rows, countParameters(network, environment), layers.length, at.widths, at.activations, at.taken];
  return { ...at, program: { shared, spread: [base, spread], own } satisfies ProgramPlaces };
}

/** Arguments of `placeOwn`. */
function placeThread(places: Places, environment: EnvironmentSpec, layers: readonly PolicyLayer[]): readonly number[] {
  const { observationSize, action, assembly } = environment;
  const pairs = (outputs: number) => 2 * Math.ceil(outputs / 2);
  const neuronsBytes = VECTOR_BYTES * Math.max(...layers.map(({ outputs }) => pairs(outputs)));
  const weights = layers.reduce((sum, { inputs, outputs }) => sum + (inputs + 1) * pairs(outputs), 0);
  return [
    places.take(VECTOR_BYTES * (countStateWords(environment) + (assembly?.spareVectors ?? 0))),
    places.take(VECTOR_BYTES * observationSize),
    places.take(VECTOR_BYTES * countOutputs(action)),
    places.take(4 * (observationSize + 1)),
    places.take(2 * neuronsBytes),
    neuronsBytes,
    places.take(VECTOR_BYTES * weights),
    places.take(VECTOR_BYTES * LANE_VECTORS),
    places.take(2 * GROUP_BYTES),
  ];
}
