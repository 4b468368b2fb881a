/** Addresses of a population in the memory that its threads share. Addresses and sizes are in bytes. */
export interface PopulationPlaces {
  readonly widths: number;
  readonly layers: number;
  readonly activation: number;
  readonly samples: number;
  readonly parameters: number;
  readonly memberBytes: number;
  readonly input: number;
  readonly output: number;
  /** Address of the first thread's rows; each further one has two rows more. */
  readonly neurons: number;
  readonly rowBytes: number;
}

/** Exports of `assembly/mlp-population.ts`. */
interface Exports {
  readonly prepare: (...places: number[]) => void;
  readonly forward: PopulationProgram;
}

/** Program of one thread: computes the outputs of the members from `first` to before `end`. */
export type PopulationProgram = (first: number, end: number) => void;

/** Instantiates the program of a thread, by its number from 0, on the shared memory. */
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
