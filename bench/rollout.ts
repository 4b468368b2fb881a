import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir } from "node:os";
import path from "node:path";
import { environmentNamed } from "../kernels/environments/registry.ts";
import { countParameters } from "../kernels/rollout/policy-layout.ts";
import { seededUniform } from "../kernels/seeded-uniform.ts";
import type { Bench } from "./benches.ts";
import { type Contender, runContest } from "./contest.ts";
import { openAdapter } from "./open-adapter.ts";
import { inProcess } from "./process-contender.ts";
import { checkFirstEpisodes, COMPARED, networkOf, type RolloutCase } from "./rollout/rollout-case.ts";
import { inPython, installVectorEnvironments } from "./rollout/vector-environment.ts";
import { createRow, type Row, type RowContext } from "./row.ts";

const MEMBERS = 4_096;
const STEPS = { unit: "1/s", better: "higher" } as const;
/** Environments, and our episodes of each member in one evaluation. */
const CASES = [
  { name: "cartpole", episodes: 8 },
  { name: "acrobot", episodes: 1 },
  { name: "breakout-plain", episodes: 8 },
  { name: "sinuca-viva", episodes: 1 },
] as const;
const PEERS = ["typed-arrays", "gymnasium", "envpool"] as const;
const CPU_SIMD = new URL("./rollout/cpu-simd.ts", import.meta.url);
const WGSL = new URL("./rollout/wgsl.ts", import.meta.url);
const TYPED_ARRAYS = new URL("./rollout/typed-arrays.ts", import.meta.url);

/** Populations in environments, a separate network for every member: both backends against three peers. */
export const benchRollout: Bench = async function* benchRollout(context) {
  const { device, environment } = await openAdapter();
  const cpu = { name: cpus()[0]?.model.trim() ?? "unknown", software: false };
  const missing = await installVectorEnvironments(context.say).then(() => null, refuse);
  const contender = (module: URL) => inProcess<RolloutCase>(module, environment);
  const folder = await mkdtemp(path.join(tmpdir(), "rollout-"));
  const rows: Row[] = [];
  try {
    for (const { name, episodes } of CASES) {
      const weightsFile = path.join(folder, `${name}.f32`);
      const compared = await writeWeights(name, weightsFile);
      const input = { environment: name, members: MEMBERS, episodes, weightsFile };
      const contest = {
        metrics: { steps: STEPS },
        cases: [{ name, input }],
        device: cpu,
        ours: contender(CPU_SIMD),
        peers: {
          wgsl: contender(WGSL),
          "typed-arrays": contender(TYPED_ARRAYS),
          gymnasium: missing ?? inPython("gymnasium"),
          envpool: missing ?? inPython("envpool"),
        },
        check: (one: RolloutCase, output: Float32Array) => checkFirstEpisodes(one, output, compared),
      };
      for await (const row of runContest<RolloutCase>(contest, context)) rows.push(row);
      await rm(weightsFile);
      const shared = { bench: context.bench, rounds: context.rounds };
      const ours = {
        "cpu-simd": { ...shared, device: cpu.name, software: false },
        wgsl: { ...shared, device: device.name, software: device.software },
      };
      yield* listCase(name, ours, rows);
    }
    yield* listMeans({ bench: context.bench, rounds: context.rounds, device: cpu.name, software: false }, rows);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Writes the rows of all members; returns those of the compared ones. */
async function writeWeights(environment: string, file: string): Promise<Float32Array> {
  const spec = environmentNamed(environment);
  const parameters = countParameters(networkOf(spec), spec);
  const rows = seededUniform(5, 0, MEMBERS * parameters, 0.5);
  await writeFile(file, rows);
  return rows.slice(0, COMPARED * parameters);
}

function refuse(error: unknown): Contender<RolloutCase> {
  return async () => {
    throw new Error(`it could not be installed: ${(error as Error).message}`);
  };
}

type Backend = "cpu-simd" | "wgsl";

/** Values of a backend in a case, or of a peer: null where it has none. */
function valuesOf(rows: readonly Row[], name: string): Readonly<Record<string, number | null>> {
  const own = rows.filter((row) => row.case === name);
  return {
    "cpu-simd": own[0]?.ours ?? null,
    ...Object.fromEntries(own.map(({ peer, peerValue }) => [peer, peerValue])),
  };
}

/** The rows of one case, a backend after the other. */
function* listCase(name: string, contexts: Record<Backend, Omit<RowContext, "case">>, rows: readonly Row[]) {
  const values = valuesOf(rows, name);
  for (const backend of ["cpu-simd", "wgsl"] as const) {
    const ours = values[backend];
    if (ours === null || ours === undefined) continue;
    for (const peer of PEERS) {
      const value = values[peer];
      const reason = rows.find((row) => row.case === name && row.peer === peer)?.reason ?? "it has no value";
      const result = value === null || value === undefined ? { reason } : { values: [value] };
      yield createRow({ ...contexts[backend], case: `${backend} ${name}` }, ["steps", STEPS], [ours], {
        name: peer,
        ...result,
      });
    }
  }
}

/** Geometric means over a peer's cases, of each backend and of the better one in each case. */
function* listMeans(context: Omit<RowContext, "case">, rows: readonly Row[]) {
  const cases = CASES.map(({ name }) => valuesOf(rows, name));
  const ways = {
    "cpu-simd": ["cpu-simd"],
    wgsl: ["wgsl"],
    "the better one": ["cpu-simd", "wgsl"],
  } as const;
  for (const [way, backends] of Object.entries(ways)) {
    for (const peer of PEERS) {
      const pairs = cases.flatMap((values) => {
        const ours = Math.max(...backends.map((backend) => values[backend] ?? 0));
        const theirs = values[peer];
        return theirs === null || theirs === undefined || ours === 0 ? [] : [[ours, theirs] as const];
      });
      const mean = (at: 0 | 1) => Math.exp(pairs.reduce((sum, pair) => sum + Math.log(pair[at]), 0) / pairs.length);
      const result = pairs.length === 0 ? { reason: "it has no case" } : { values: [mean(1)] };
      const name = `${way}, geometric mean of ${pairs.length}`;
      yield createRow({ ...context, case: name }, ["steps", STEPS], [pairs.length === 0 ? 0 : mean(0)], {
        name: peer,
        ...result,
      });
    }
  }
}
