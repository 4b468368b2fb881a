import { cpus } from "node:os";
import { checkAgainstReference } from "./check-against-reference.ts";
import type { Bench } from "./benches.ts";
import { runContest } from "./contest.ts";
import { openAdapter } from "./open-adapter.ts";
import type { PopulationCase } from "./population/population-case.ts";
import { inProcess } from "./process-contender.ts";

const WGSL = new URL("./population/wgsl.ts", import.meta.url);
const CPU_SIMD = new URL("./population/cpu-simd.ts", import.meta.url);
const TYPED_ARRAYS = new URL("./population/typed-arrays.ts", import.meta.url);

const TANH = 3;
const METRICS = { forwards: { unit: "1/s", better: "higher" } } as const;

const population = (members: number, inputs: number, hidden: number, outputs: number) => ({
  name: `${members} x ${inputs}-${hidden}-${hidden}-${outputs}`,
  input: {
    kernel: "mlp-population",
    shape: { members, samples: 1, inputs, hidden, outputs, layers: 3, activation: TANH },
    mode: "round-trip",
  } satisfies PopulationCase as PopulationCase,
});

/** The middle two have 1,476 parameters a member, the first and the last 891 and 6,280. */
const CASES = [
  population(4096, 8, 24, 3),
  population(256, 8, 32, 4),
  population(4096, 8, 32, 4),
  population(1024, 24, 64, 8),
];

/** A separate network for every member, on the adapter and on the processor, against plain JavaScript. */
export const benchPopulation: Bench = async function* benchPopulation(context) {
  const { device, environment } = await openAdapter();
  const cpu = { name: cpus()[0]?.model.trim() ?? "unknown", software: false };
  const contender = (module: URL) => inProcess<PopulationCase>(module, environment);
  const cases = (backend: string) => CASES.map(({ name, input }) => ({ name: `${backend} ${name}`, input }));
  const peers = { "typed-arrays": contender(TYPED_ARRAYS) };
  const shared = { metrics: METRICS, check: checkAgainstReference };

  const simd = { ...shared, cases: cases("cpu-simd"), device: cpu, ours: contender(CPU_SIMD), peers };
  yield* runContest<PopulationCase>(simd, context);
  const both = { ...peers, "assemblyscript-simd": contender(CPU_SIMD) };
  const wgsl = { ...shared, cases: cases("wgsl"), device, ours: contender(WGSL), peers: both };
  yield* runContest<PopulationCase>(wgsl, context);
};
