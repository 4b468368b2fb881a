/** Where a thread's program finds what it works with, in the memory that all threads share; see rollout.as. */
export interface ProgramPlaces {
  /** Arguments of `placeShared`. */
  readonly shared: readonly number[];
  /** How outputs become continuous actions: base and spread. */
  readonly spread: readonly number[];
  /** Arguments of `placeOwn`, by thread. */
  readonly own: readonly (readonly number[])[];
}

/** What threads are asked to take part in: each takes one share of so many, and then what the work needs. */
export const WORK = ["rollOut", "perturb", "recombine", "breed"] as const;
export type WorkName = (typeof WORK)[number];

/** A thread's program, ready to take part in any of it. */
export type CpuProgram = Readonly<Record<WorkName | "replay", (...numbers: number[]) => void>>;

/** What rollout.as exports, and the files around it. */
type Exports = CpuProgram & Readonly<Record<"placeShared" | "placeOwn" | "spreadActions", CpuProgram["replay"]>>;

/** Makes the program of a thread, by its number from 0. */
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
