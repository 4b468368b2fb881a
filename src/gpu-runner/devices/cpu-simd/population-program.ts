/** Where a population stands in the memory that its threads share. Addresses and sizes are in bytes. */
export interface PopulationPlaces {
  readonly widths: number;
  readonly layers: number;
  readonly activation: number;
  readonly samples: number;
  readonly parameters: number;
  readonly memberBytes: number;
  readonly input: number;
  readonly output: number;
  /** Of the first thread; each further one has two rows more. */
  readonly neurons: number;
  readonly rowBytes: number;
}

/** What `assembly/mlp-population.ts` exports. */
interface Exports {
  readonly prepare: (...places: number[]) => void;
  readonly forward: PopulationProgram;
}

/** One thread's program: computes the outputs of the members from `first` to before `end`. */
export type PopulationProgram = (first: number, end: number) => void;

/** Makes the program of a thread, by its number from 0, on the memory that all share. */
export async function startPopulationProgram(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  places: PopulationPlaces,
  thread: number,
): Promise<PopulationProgram> {
  const instance = await WebAssembly.instantiate(module, { env: { memory } });
  const { prepare, forward } = instance.exports as unknown as Exports;
  const { widths, layers, activation, samples, parameters, memberBytes, input, output, neurons, rowBytes } = places;
  const own = neurons + 2 * rowBytes * thread;
  prepare(widths, layers, activation, samples, parameters, memberBytes, input, output, own, rowBytes);
  return forward;
}
