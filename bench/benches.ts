import type { Row } from "./row.ts";
import type { NetworkName } from "./serve/served-network.ts";

export interface BenchContext {
  /** Name of the requested bench. */
  readonly bench: string;
  readonly rounds: number;
  /** Whether its results are saved. */
  readonly save: boolean;
  /** Reports the bench's progress to a person. */
  readonly say: (text: string) => void;
}

/** Measures, and yields each row once it is known. Throws where our own contender fails. */
export type Bench = (context: BenchContext) => AsyncGenerator<Row>;

interface BenchEntry {
  readonly description: string;
  /** Loaded when it is run, so that listing needs no installed packages. */
  readonly load: () => Promise<Bench>;
}

const KERNEL_PEERS = "tfjs-webgpu, ort-webgpu, ort-cpu and tfjs-wasm";

const SERVED: Readonly<Record<NetworkName, string>> = {
  lenet5: "LeNet within 20 ms",
  resnet8: "resnet8 within 50 ms",
  dncnn5: "dncnn5 within 50 ms",
  transformer: "a transformer's block within 250 ms",
};

/** Every bench by name. */
export const BENCHES: ReadonlyMap<string, BenchEntry> = new Map([
  [
    "gemm",
    {
      description: `Matrix products, against ${KERNEL_PEERS}`,
      load: async () => (await import("./gemm.ts")).benchGemm,
    },
  ],
  [
    "consensus",
    {
      description: "Tallies, leaders and conflicts, against typed-arrays and assemblyscript",
      load: async () => (await import("./consensus.ts")).benchConsensus,
    },
  ],
  [
    "evolution",
    {
      description: "Generations, fronts, crowding and diversity, against typed-arrays and assemblyscript",
      load: async () => (await import("./evolution.ts")).benchEvolution,
    },
  ],
  [
    "residency",
    {
      description: "Migrations between a runner's tiers of memory; prefetching and eviction against lru",
      load: async () => (await import("./residency.ts")).benchResidency,
    },
  ],
  [
    "tuner",
    {
      description: "What tuning is worth against the default and the textbook's kernel, and what a search costs",
      load: async () => (await import("./tuner.ts")).benchTuner,
    },
  ],
  [
    "softmax",
    {
      description: `Softmax along rows, against ${KERNEL_PEERS}`,
      load: async () => (await import("./softmax.ts")).benchSoftmax,
    },
  ],
  [
    "mlp-b1",
    {
      description: `Dense networks, one observation there and back, against ${KERNEL_PEERS}`,
      load: async () => (await import("./mlp.ts")).benchMlp(1),
    },
  ],
  [
    "mlp-b1024",
    {
      description: `Dense networks, 1,024 observations there and back, against ${KERNEL_PEERS}`,
      load: async () => (await import("./mlp.ts")).benchMlp(1024),
    },
  ],
  ...Object.entries(SERVED).map(([network, what]): [string, BenchEntry] => [
    `serve-${network}`,
    {
      description: `Answers in time under load, ${what}, against Triton, MLServer, LitServe, BentoML and Ray Serve`,
      load: async () => (await import("./serve.ts")).benchServe(network as NetworkName),
    },
  ]),
  [
    "conv3x3",
    {
      description: `3×3 convolutions, against ${KERNEL_PEERS}`,
      load: async () => (await import("./conv3x3.ts")).benchConv3x3,
    },
  ],
  [
    "population",
    {
      description: "A network for each member of a population, on wgsl and on cpu-simd, against typed-arrays",
      load: async () => (await import("./population.ts")).benchPopulation,
    },
  ],
  [
    "rollout",
    {
      description: "Policies in environments, on wgsl and on cpu-simd, against typed-arrays, gymnasium and envpool",
      load: async () => (await import("./rollout.ts")).benchRollout,
    },
  ],
  [
    "archive",
    {
      description:
        "Inserts into an archive of elites, on wgsl and in typed arrays, against pyribs; its share of a generation",
      load: async () => (await import("./archive.ts")).benchArchive,
    },
  ],
  [
    "hrr",
    {
      description: "Bindings of holographic reduced representations, against fft.js, typed arrays and AssemblyScript",
      load: async () => (await import("./hrr.ts")).benchHrr,
    },
  ],
  [
    "edge-wasm",
    {
      description: "Dense networks in the Worker and its program in Node, against ort-web-wasm",
      load: async () => (await import("./edge-wasm.ts")).benchEdgeWasm,
    },
  ],
  [
    "compression",
    {
      description: "Variants by whole numbers, against the files of onnxruntime's quantisation tools",
      load: async () => (await import("./compression.ts")).benchCompression,
    },
  ],
  [
    "blocks",
    {
      description: "A transformer's block, ResNet-18 and a MiniLM-shaped encoder on our kernels, against ort-webgpu",
      load: async () => (await import("./blocks.ts")).benchBlocks,
    },
  ],
  [
    "zoo",
    {
      description:
        "The networks of the zoo, a row at a time: wgsl against ort-webgpu, ort-cpu and edge-wasm against ort-web-wasm",
      load: async () => (await import("./zoo.ts")).benchZoo,
    },
  ],
  [
    "detection",
    {
      description: "Changes in generated histories, against bencher-ttest, github-action-benchmark and otava",
      load: async () => (await import("./detection.ts")).benchDetection,
    },
  ],
  [
    "learning",
    {
      description: "Trainings over seeds, against the generations and returns that others published",
      load: async () => (await import("./learning.ts")).benchLearning,
    },
  ],
  [
    "hop",
    {
      description:
        "What the edge adds to an inference, against plain-http to the same backend and node-proxy before it; the same by tickets",
      load: async () => (await import("./hop.ts")).benchHop,
    },
  ],
  [
    "history-query",
    {
      description:
        "A year of a million points, a sample each, against sqlite-raw, d1-raw and duckdb; inferences beside it",
      load: async () => (await import("./history-query.ts")).benchHistoryQuery(1, true),
    },
  ],
  [
    "history-query-n8",
    {
      description: "The same with eight samples a point, each of which is a row for the peers",
      load: async () => (await import("./history-query.ts")).benchHistoryQuery(8, false),
    },
  ],
  [
    "ingest",
    {
      description: "Points stored a second, against an insert a point; nothing lost where the edge is killed meanwhile",
      load: async () => (await import("./ingest.ts")).benchIngest,
    },
  ],
  [
    "page",
    {
      description: "A history of 100,000 points, panned in a browser: frames a second against plain-uplot",
      load: async () => (await import("./page.ts")).benchPage,
    },
  ],
  [
    "optimise",
    {
      description:
        "Configurations that a search finds, against exhaustive measurement of the same space and the default",
      load: async () => (await import("./optimise.ts")).benchOptimise,
    },
  ],
  [
    "named-budgets",
    {
      description: "Requests to the zoo with the budget that a refusal has just named: the share that is answered",
      load: async () => (await import("./named-budgets.ts")).benchNamedBudgets,
    },
  ],
  [
    "queue",
    {
      description: "The runner's scheduler on a simulated device, against peers and a bound, with reasons of each loss",
      load: async () => (await import("./queue.ts")).benchQueue,
    },
  ],
  [
    "frontier",
    {
      description: "The same schedulers over their settings: goodput against kept promises, with plots",
      load: async () => (await import("./frontier.ts")).benchFrontier,
    },
  ],
  [
    "goodput",
    {
      description: "Answers in budget under load, against plain servers, two batchers and an oracle; about 20 minutes",
      load: async () => (await import("./goodput.ts")).benchGoodput,
    },
  ],
]);
