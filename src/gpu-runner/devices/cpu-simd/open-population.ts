import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { KernelArrays, KernelShape } from "../../../../kernels/kernel-spec.ts";
import { countWeights, layOutLayers, mlpWidths, widestLayer } from "../../../../kernels/mlp/mlp-layers.ts";
import type { MlpPopulationSize } from "../../../../kernels/mlp-population/mlp-population.reference.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import { loadAssembly } from "./load-assembly.ts";
import { type PopulationPlaces, startPopulationProgram } from "./population-program.ts";
import type { PopulationWork } from "./population-worker.ts";
import { createWorkShares, runRound } from "./work-shares.ts";

type Shape = KernelShape<MlpPopulationSize>;

/** Population in memory that all its threads share. */
export interface OpenPopulation {
  /** Number of threads; 1 where the calling thread works alone. */
  readonly threads: number;
  /** Sets the values of `parameters`, `input` or both. */
  upload(arrays: KernelArrays): void;
  /** Runs all samples through the networks of their members; one run at a time. */
  run(): Promise<void>;
  /** Copy of the outputs of the last run: members × samples × outputs. */
  read(): Float32Array<ArrayBuffer>;
  /** Ends the threads. */
  release(): Promise<void>;
}

const PAGE_BYTES = 65_536;
/** WebAssembly addresses 4 GiB, and a runner needs memory for other purposes. */
const MAX_BYTES = 2 ** 30;
/** Products that one thread computes while another wakes up: some hundred microseconds. */
const ALONE_PRODUCTS = 1_000_000;
/** Shares per thread, so that a delayed thread leaves little to wait for. */
const SHARES_PER_THREAD = 8;

/**
 * Allocates a population and starts at most `most` threads. Its data are uploaded next, in the layout of the kernel
 * `mlp-population`. Fails with `kernel-invalid` where it exceeds a gigabyte.
 */
export async function openPopulation(shape: Shape, most = availableParallelism()): Promise<OpenPopulation> {
  const { members, samples, outputs } = shape;
  const alone = members * samples * countWeights(shape) <= ALONE_PRODUCTS;
  const threads = alone ? 1 : Math.min(most, members);
  const { places, sizeBytes } = layOutPopulation(shape, threads);
  const pages = Math.ceil(sizeBytes / PAGE_BYTES);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
  new Int32Array(memory.buffer, places.widths).set(mlpWidths(shape));
  const view = (at: number, length: number) => new Float32Array(memory.buffer, at, length);

  const module = await loadAssembly("mlp-population");
  const membersPerShare = Math.ceil(members / (threads * SHARES_PER_THREAD));
  const team = alone
    ? await workAlone(module, memory, places, members)
    : workTogether({ module, memory, places, members, membersPerShare }, threads);
  return {
    threads,
    upload({ parameters, input }) {
      if (parameters !== undefined) view(places.parameters, parameters.length).set(parameters);
      if (input !== undefined) view(places.input, input.length).set(input);
    },
    read: () => new Float32Array(view(places.output, members * samples * outputs)),
    ...team,
  };
}

/** Each array at a multiple of 64 bytes, the size of a cache line. */
function layOutPopulation(shape: Shape, threads: number) {
  let sizeBytes = 0;
  const place = (bytes: number) => {
    const at = sizeBytes;
    sizeBytes += Math.ceil(bytes / 64) * 64;
    return at;
  };
  const items = shape.members * shape.samples;
  const rowBytes = Math.ceil((4 * widestLayer(shape)) / 64) * 64;
  const memberBytes = 4 * (layOutLayers(shape).at(-1)?.end ?? 0);
  const places: PopulationPlaces = {
    layers: shape.layers,
    activation: shape.activation,
    samples: shape.samples,
    memberBytes,
    rowBytes,
    widths: place(4 * (shape.layers + 1)),
    parameters: place(memberBytes * shape.members),
    input: place(4 * items * shape.inputs),
    output: place(4 * items * shape.outputs),
    neurons: place(2 * rowBytes * threads),
  };
  if (sizeBytes > MAX_BYTES) {
    throw new ProblemError(
      "kernel-invalid",
      `The population has ${sizeBytes} bytes, and at most ${MAX_BYTES} are taken`,
    );
  }
  return { places, sizeBytes };
}

type Team = Pick<OpenPopulation, "run" | "release">;

async function workAlone(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
  places: PopulationPlaces,
  members: number,
): Promise<Team> {
  const forward = await startPopulationProgram(module, memory, places, 0);
  return { run: async () => forward(0, members), release: async () => {} };
}

/** Threads that start late join the first round late; a thread that fails makes every run fail. */
function workTogether(work: Omit<PopulationWork, "thread" | "shares">, threads: number): Team {
  const shares = createWorkShares();
  const entry = new URL("population-worker.ts", import.meta.url);
  const workers = Array.from(
    { length: threads },
    (_, thread) => new Worker(entry, { workerData: { ...work, thread, shares } satisfies PopulationWork }),
  );
  const failed = Promise.race(
    workers.map(async (worker): Promise<never> => {
      const [error] = (await once(worker, "error")) as [Error];
      throw error;
    }),
  );
  failed.catch(() => {});
  return {
    run: () => Promise.race([failed, runRound(shares, threads)]),
    release: async () => void (await Promise.all(workers.map((worker) => worker.terminate()))),
  };
}
