import { expect, test } from "vitest";
import { cartpole } from "../../kernels/environments/cartpole/cartpole.environment.ts";
import { openGraph } from "../../kernels/rollout/graph.reference.ts";
import { countParameters } from "../../kernels/rollout/policy-layout.ts";
import { rollOut } from "../../kernels/rollout/roll-out.reference.ts";
import { seededUniform } from "../../kernels/seeded-uniform.ts";
import { openCpuPopulation } from "../../src/gpu-runner/rollout/cpu/open-cpu-population.ts";
import { openAdapters } from "./open-adapters.ts";

const network = { kind: "graph", hiddenNodes: 4, connections: 16 } as const;
const sigmoid = (sum: number) => 1 / (1 + Math.exp(-4.9 * sum));

/** Four inputs are 0 to 3, the bias is 4, outputs are 5 and 6, hidden nodes come from 7. */
function rowOf(connections: readonly (readonly [number, number, number])[]): Float32Array<ArrayBuffer> {
  const row = new Float32Array(countParameters(network, cartpole));
  row.set([connections.length, ...connections.flat()]);
  return row;
}

/** From the inputs through as many hidden nodes as the member says, which need not be used. */
function memberRow(member: number): Float32Array<ArrayBuffer> {
  const weights = seededUniform(11, member, 16);
  const hidden = member % 5;
  const chain = Array.from({ length: hidden }, (_, node): [number, number, number][] => [
    [node % 4, 7 + node, 0.5 + weights[node]!],
    [node === 0 ? 4 : 6 + node, 7 + node, weights[4 + node]!],
  ]).flat();
  const last = hidden === 0 ? 4 : 6 + hidden;
  return rowOf([...chain, [last, 5, weights[8]!], [2, 6, weights[9]!], [3, 6, weights[10]!], [4, 6, weights[11]!]]);
}

test("a graph sums what leads to a node, and takes its sigmoid", () => {
  const policy = openGraph(
    cartpole,
    network,
    rowOf([
      [0, 7, 0.5],
      [4, 7, -0.25],
      [7, 5, 2],
      [3, 5, 1],
    ]),
  );
  const outputs = policy(Float64Array.of(0.1, 9, 9, 0.2));
  expect(outputs[0]).toBeCloseTo(sigmoid(2 * sigmoid(0.05 - 0.25) + 0.2), 12);
  expect(outputs[1]).toBe(0.5);
});

test("a population of differing graphs rolls out as the reference does", async () => {
  const lengths = await expectReference(Array.from({ length: 70 }, (_, member) => memberRow(member)));
  expect(new Set(lengths).size).toBeGreaterThan(20);
});

test("a row of any numbers is a policy of some kind", async () => {
  const size = countParameters(network, cartpole);
  const rows = Array.from({ length: 64 }, (_, member) => {
    const nodes = seededUniform(13, member, size, 20);
    const weights = seededUniform(14, member, size);
    return nodes.map((node, at) => (at === 0 ? 1e30 : at % 3 === 0 ? weights[at]! : node));
  });
  await expectReference(rows);
});

/** Rolls these out on the CPU and on every adapter; episodes are of the same length and end as in f64. */
async function expectReference(rows: readonly Float32Array<ArrayBuffer>[]): Promise<number[]> {
  const weights = Float32Array.from(rows.flatMap((row) => [...row]));
  const plan = { seed: 7, firstEpisode: 2, episodes: 3, commonRandom: true };
  const expected = rows.flatMap((row, member) =>
    Array.from({ length: plan.episodes }, (_, episode) =>
      rollOut(cartpole, network, row, { seed: 7, member, episode: plan.firstEpisode + episode, commonRandom: true }),
    ),
  );
  const members = rows.length;
  const onCpu = await openCpuPopulation({ environment: cartpole, network, members, threads: 2 });
  await onCpu.write(0, weights);
  const found = [await onCpu.evaluate(plan)];
  await onCpu.release();
  for (const adapter of await openAdapters())
    found.push(await adapter.work("rollOut", { environment: "cartpole", network, members, weights, ...plan }, 300_000));
  expect(found.length).toBeGreaterThan(1);
  for (const { lengths, causes } of found) {
    const same = expected.filter(({ length, cause }, at) => lengths[at] === length && causes[at] === cause);
    // Rounding may tip a close decision once in a while.
    expect(same.length).toBeGreaterThan(0.97 * expected.length);
  }
  return expected.map(({ length }) => length);
}
