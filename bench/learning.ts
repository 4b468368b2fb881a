import { availableParallelism, cpus } from "node:os";
import { median } from "../src/stats/distribution/summary.ts";
import type { Bench } from "./benches.ts";
import { learn, type LearningCase, type Learnt } from "./learning/learn.ts";
import { createRow, type Row, type RowContext } from "./row.ts";

/** Seeds of a case, unless more rounds are asked for. */
const SEEDS = 10;

interface NamedCase extends LearningCase {
  readonly name: string;
  /** Generations within which the reference reaches its target. */
  readonly knownGenerations?: number;
  /** Published return of the same algorithm, and its source. */
  readonly known?: { readonly name: string; readonly value: number };
  readonly seeds?: number;
}

const BALANCE = {
  environment: "cartpole",
  network: { kind: "mlp", hidden: [16] },
  generations: 100,
  episodes: 16,
  everyGenerations: 1,
  stopAt: 475,
};
/** Starts near rest; the target is the environment's threshold for solved. */
const SWING_UP = {
  environment: "cartpole-swing-up",
  network: { kind: "mlp", hidden: [16], outputActivation: "tanh" },
  generations: 500,
  episodes: 8,
  everyGenerations: 10,
  stopAt: 920,
  known: { name: "evojax", value: 927 },
  seeds: 3,
};
const OPENES = { name: "openes", population: 64, sigma: 0.1, learningRate: 0.05 };
const PGPE = { ...OPENES, name: "pgpe" };
const SEP_CMA_ES = { name: "sep-cma-es", population: 32, sigma: 0.5 };
const GENETIC = { name: "genetic", population: 256 };
const SPECIES = { name: "species", population: 150 };
const GRAPH = { kind: "graph" };
/** Above this return every error is below ½: all four answers are on the right side. */
const XOR_TASK = { environment: "xor", generations: 100, episodes: 1, everyGenerations: 1, stopAt: 3.75 };
const TWO_LAYERS = { kind: "mlp", hidden: [4], outputActivation: "sigmoid" };
/** Return of a policy that always answers ½. */
const UNDECIDED = { name: "undecided-policy", value: 3 };
/** Mean return of a random policy. */
const AT_RANDOM = { name: "random-policy", value: 22.35 };

const CASES: readonly NamedCase[] = [
  { ...BALANCE, name: "cartpole openes 64", algorithm: OPENES, knownGenerations: 51 },
  { ...BALANCE, name: "cartpole pgpe 64", algorithm: PGPE },
  { ...BALANCE, name: "cartpole sep-cma-es 32", algorithm: SEP_CMA_ES, knownGenerations: 20 },
  { ...BALANCE, name: "cartpole genetic 256", algorithm: GENETIC },
  { ...BALANCE, name: "cartpole species 150", network: GRAPH, algorithm: SPECIES },
  { ...XOR_TASK, name: "xor genetic 256", network: TWO_LAYERS, algorithm: GENETIC },
  // The slowest of Stanley and Miikkulainen's 100 runs (2002, section 4.1).
  { ...XOR_TASK, name: "xor species 150", network: GRAPH, algorithm: SPECIES, knownGenerations: 90, seeds: 50 },
  { ...BALANCE, name: "cartpole openes 64, shuffled", algorithm: OPENES, shuffled: true, known: AT_RANDOM },
  { ...BALANCE, name: "cartpole sep-cma-es 32, shuffled", algorithm: SEP_CMA_ES, shuffled: true, known: AT_RANDOM },
  { ...BALANCE, name: "cartpole genetic 256, shuffled", algorithm: GENETIC, shuffled: true, known: AT_RANDOM },
  {
    ...XOR_TASK,
    name: "xor species 150, shuffled",
    network: GRAPH,
    algorithm: SPECIES,
    shuffled: true,
    known: UNDECIDED,
  },
  { ...SWING_UP, name: "swing-up easy sep-cma-es 64", algorithm: { ...SEP_CMA_ES, population: 64 } },
];

/**
 * Whether, and how fast, the algorithms learn tasks that they are known to learn; and that they learn nothing from
 * shuffled fitness.
 */
export const benchLearning: Bench = async function* benchLearning({ bench, rounds, say }) {
  const device = `${cpus()[0]?.model.trim() ?? "unknown"}, ${availableParallelism()} threads`;
  for (const chosen of CASES) {
    const seeds = chosen.seeds ?? Math.max(SEEDS, rounds);
    const learnt: Learnt[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      learnt.push(await learn(chosen, seed));
      say(`${chosen.name}, seed ${seed}: ${describeLearnt(learnt.at(-1)!)}`);
    }
    yield* createRows({ bench, case: chosen.name, rounds: seeds, device, software: false }, chosen, learnt);
  }
};

function createRows(context: RowContext, chosen: NamedCase, learnt: readonly Learnt[]): Row[] {
  const { knownGenerations, known, generations } = chosen;
  const solved = learnt.map(({ solvedAt }) => solvedAt);
  const reference = knownGenerations === undefined ? null : { name: "reference", values: [knownGenerations] };
  const published = known === undefined ? null : { name: known.name, values: [known.value] };
  const share = solved.filter((at) => at !== null && at <= (knownGenerations ?? generations)).length / solved.length;
  // The best of many policies that learnt nothing would be good by chance.
  const fresh = learnt.map((each) => (chosen.shuffled === true ? each.last : each.fresh));
  const higher = { better: "higher" } as const;
  const rows = [
    createRow(context, ["fresh return", { unit: "return", ...higher }], fresh, published),
    createRow(
      context,
      ["steps", { unit: "1/s", ...higher }],
      [median(learnt.map((each) => each.stepsPerSecond))],
      null,
    ),
  ];
  if (chosen.stopAt === undefined || chosen.shuffled === true) return rows;
  // An unsolved seed counts as solved after the last generation.
  const until = solved.map((at) => at ?? generations);
  return [
    createRow(context, ["generations", { unit: "generations", better: "lower" }], until, reference),
    createRow(context, ["slowest seed", { unit: "generations", better: "lower" }], [Math.max(...until)], reference),
    createRow(context, ["solved in time", { unit: "share of seeds", ...higher }], [share], null),
    ...rows,
  ];
}

function describeLearnt({ solvedAt, fresh }: Learnt): string {
  return `${fresh.toFixed(1)} on fresh episodes, ${solvedAt === null ? "not solved" : `solved after ${solvedAt}`}`;
}
