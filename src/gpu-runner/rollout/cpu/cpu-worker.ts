/** Entry of a thread that does a population's work until it is terminated. */
import { workerData } from "node:worker_threads";
import { serveRounds } from "../../devices/cpu-simd/work-shares.ts";
import { type ProgramPlaces, startCpuProgram, WORK } from "./cpu-program.ts";

/** Data of a thread's start. */
export interface CpuWork {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly places: ProgramPlaces;
  readonly thread: number;
  readonly threads: number;
  readonly shares: Int32Array<SharedArrayBuffer>;
  /** Index of this round's work, and its arguments. */
  readonly order: Float64Array<SharedArrayBuffer>;
}

const { module, memory, places, thread, threads, shares, order } = workerData as CpuWork;
const program = await startCpuProgram(module, memory, places, thread);
serveRounds(shares, threads, (share) => {
  const [work = 0, ...numbers] = order;
  program[WORK[work]!](share, threads, ...numbers);
});
