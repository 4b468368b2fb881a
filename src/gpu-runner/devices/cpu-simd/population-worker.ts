/** Entry of a thread that computes shares of a population until it is terminated. */
import { workerData } from "node:worker_threads";
import { type PopulationPlaces, startPopulationProgram } from "./population-program.ts";
import { serveRounds } from "./work-shares.ts";

/** Data of a thread's start. */
export interface PopulationWork {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly places: PopulationPlaces;
  readonly thread: number;
  readonly members: number;
  readonly membersPerShare: number;
  readonly shares: Int32Array<SharedArrayBuffer>;
}

const { module, memory, places, thread, members, membersPerShare, shares } = workerData as PopulationWork;
const forward = await startPopulationProgram(module, memory, places, thread);
serveRounds(shares, Math.ceil(members / membersPerShare), (share) => {
  const first = share * membersPerShare;
  forward(first, Math.min(members, first + membersPerShare));
});
