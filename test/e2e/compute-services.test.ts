import { afterAll, expect } from "vitest";
import { endpoints } from "../../src/protocol/endpoints.ts";
import type { HrrOperation } from "../../src/protocol/inference/hrr.ts";
import type { Sendable } from "../../src/client/call-options.ts";
import type { JobInput, JobResult } from "../../src/protocol/jobs/job.ts";
import { type LocalStack, waitForJob } from "./local-stack.ts";
import { it, openTenant } from "./shared-stack.ts";

const DIMENSION = 1_024;
let stack: LocalStack;

it.beforeAll(async ({ sharedStack }) => {
  stack = await openTenant(sharedStack);
});
afterAll(() => stack?.stop());

type Vector = readonly number[];

async function encode(symbols: string[], seed = 1): Promise<Vector[]> {
  const body = { symbols, dimension: DIMENSION, seed, budgetMs: 60_000 };
  const { outputs, runnerId, kernel } = await stack.client.call(endpoints.encodeSymbols, { body });
  expect(runnerId).toMatch(/^rnr_/);
  expect(kernel).toBe("hrr-encode");
  return rowsOf(outputs["vectors"]!);
}

/** Tensors come flat. */
function rowsOf({ data, shape = [] }: { data: readonly number[]; shape?: readonly number[] | undefined }): Vector[] {
  const width = shape.at(-1)!;
  return Array.from({ length: data.length / width }, (_, row) => data.slice(row * width, (row + 1) * width));
}

interface Reply {
  readonly outputs: Record<string, { readonly data: readonly number[]; readonly shape: readonly number[] }>;
  readonly errors: readonly { readonly pointer: string }[];
}

async function compute(operation: HrrOperation, inputs: Record<string, unknown>, further: object = {}) {
  const response = await fetch(new URL(`/v1/hrr/${operation}`, stack.baseUrl), {
    method: "POST",
    headers: { authorization: `Bearer ${stack.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({
      budgetMs: 60_000,
      ...further,
      inputs: Object.fromEntries(Object.entries(inputs).map(([name, data]) => [name, { data }])),
    }),
  });
  return { status: response.status, json: (await response.json()) as Reply };
}

async function outputOf(operation: HrrOperation, inputs: Record<string, unknown>, further: object = {}) {
  const { json } = await compute(operation, inputs, further);
  return Object.values(json.outputs)[0]!;
}

const dot = (a: Vector, b: Vector) => a.reduce((sum, value, index) => sum + value * b[index]!, 0);
const cosine = (a: Vector, b: Vector) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

it("a symbol is the same vector wherever it is made, of variance 1/d and unlike any other", async () => {
  const [red, round] = (await encode(["red", "round"])) as [Vector, Vector];
  expect(await encode(["round", "red"])).toEqual([round, red]);
  expect(cosine((await encode(["red"], 2))[0]!, red)).toBeLessThan(0.2);
  expect(dot(red, red)).toBeGreaterThan(0.8);
  expect(dot(red, red)).toBeLessThan(1.2);
  expect(Math.abs(cosine(red, round))).toBeLessThan(0.2);
});

it("binding is the circular convolution of the check value, rows or one vector alone", async () => {
  const a = [1, 2, 3, 4];
  const b = [5, 6, 7, 8];
  expect(await outputOf("bind", { a, b })).toMatchObject({ shape: [1, 4], data: [66, 68, 66, 60] });
  const rows = await outputOf("bind", { a: [a, b], b: [b, a] });
  expect(rows).toMatchObject({ shape: [2, 4], data: [66, 68, 66, 60, 66, 68, 66, 60] });
  expect(await outputOf("similarity", { x: a, y: a })).toMatchObject({ shape: [1], data: [expect.closeTo(1, 6)] });
  const projected = await outputOf("project", { x: [a, b] }, { dimension: 16, seed: 3 });
  expect(projected.shape).toEqual([2, 16]);
  const [first] = rowsOf(projected);
  expect(dot(first!, first!)).toBeCloseTo(1, 5);
  const mixed = await outputOf("superpose", { x: [[a, b]] });
  expect(mixed.shape).toEqual([1, 4]);
});

it("what was bound is found again in a memory of thousands, after unbinding", async () => {
  const body = { name: "things", dimension: DIMENSION };
  expect(await stack.client.call(endpoints.createItemMemory, { body })).toMatchObject({ items: 0, version: 1 });
  const params = { name: "things" };
  for (let first = 0; first < 3_000; first += 1_000) {
    const items = Array.from({ length: 1_000 }, (_, index) => ({ key: `thing ${first + index}` }));
    await stack.client.call(endpoints.addItems, { params, body: { items, budgetMs: 60_000 } });
  }
  const roles = await encode(["colour", "shape", "size"]);
  const fillers = await encode(["thing 7", "thing 1500", "thing 2999"]);
  const bound = await outputOf("bind", { a: roles, b: fillers });
  const trace = await outputOf("superpose", { x: [rowsOf(bound)] });
  const noisy = await outputOf("unbind", { c: [trace.data, trace.data, trace.data], a: roles });
  const { matches, version } = await stack.client.call(endpoints.searchItems, {
    params,
    body: { queries: rowsOf(noisy).map((row) => [...row]), limit: 2, budgetMs: 60_000 },
  });
  expect(version).toBe(4);
  expect(matches.map(([best]) => best?.key)).toEqual(["thing 7", "thing 1500", "thing 2999"]);
  // 1/√(k + 1) of k pairs.
  for (const [best, next] of matches) {
    expect(best?.similarity).toBeGreaterThan(0.4);
    expect(best?.similarity).toBeLessThan(0.6);
    expect(next?.similarity).toBeLessThan(0.25);
  }
});

it("a memory refuses what does not fit it, and keeps what it has", async () => {
  await stack.client.call(endpoints.createItemMemory, { body: { name: "small", dimension: 5 } });
  const params = { name: "small" };
  const add = (items: { key: string; vector?: number[] }[]) =>
    stack.client.call(endpoints.addItems, { params, body: { items, budgetMs: 60_000 } });
  expect(
    await add([
      { key: "one", vector: [1, 0, 0, 0, 0] },
      { key: "two", vector: [0, 0, 0, 0, 1] },
    ]),
  ).toMatchObject({
    items: 2,
    version: 2,
  });
  await expect(add([{ key: "three", vector: [1] }])).rejects.toMatchObject({
    problem: { code: "invalid-request", errors: [{ pointer: "#/items/0/vector" }] },
  });
  await expect(add([{ key: "three" }, { key: "one" }])).rejects.toMatchObject({
    problem: { code: "conflict", errors: [{ pointer: "#/items/1/key" }] },
  });
  const search = { queries: [[0, 0, 0, 0.1, 2]], budgetMs: 60_000 };
  const { matches } = await stack.client.call(endpoints.searchItems, { params, body: search });
  expect(matches).toMatchObject([[{ key: "two" }, { key: "one", similarity: 0 }]]);
  await stack.client.call(endpoints.deleteItemMemory, { params });
  await expect(stack.client.call(endpoints.searchItems, { params, body: search })).rejects.toMatchObject({
    problem: { code: "not-found" },
  });
});

it("an operation names what is wrong with its inputs", async () => {
  const pointersOf = async (operation: HrrOperation, inputs: Record<string, unknown>, further: object = {}) => {
    const { status, json } = await compute(operation, inputs, further);
    expect(status).toBe(400);
    return json.errors.map(({ pointer }) => pointer);
  };
  expect(await pointersOf("bind", { a: [1, 2] })).toEqual(["#/inputs"]);
  expect(await pointersOf("bind", { a: [1, 2], b: [1, 2, 3] })).toEqual(["#/inputs/b"]);
  expect(await pointersOf("bind", { a: [1], b: [1], x: [1] })).toEqual(["#/inputs/x"]);
  expect(await pointersOf("bind", { a: [], b: [] })).toEqual(["#/inputs/a", "#/inputs/b"]);
  expect(await pointersOf("bind", { a: [1], b: [1] }, { dimension: 4 })).toEqual(["#/dimension"]);
  expect(await pointersOf("project", { x: [1] })).toEqual(["#/dimension"]);
});

async function finishJob<Kind extends JobResult["kind"]>(
  kind: Kind,
  body: Sendable<Omit<Extract<JobInput, { kind: Kind }>, "kind">>,
): Promise<Extract<JobResult, { kind: Kind }>> {
  const job = await stack.client.call(endpoints.createJob, { body: Object.assign({ kind }, body) as never });
  const { state, result, problem } = await waitForJob(stack, job.id, ["succeeded", "failed"]);
  expect({ state, problem }).toEqual({ state: "succeeded", problem: null });
  return result as Extract<JobResult, { kind: Kind }>;
}

const pool = { name: "herd", agents: 64, stateSize: 8, lowest: -4, highest: 4 };

async function readStates(name: string): Promise<Float32Array> {
  const response = await fetch(new URL(`/v1/agent-pools/${name}/states`, stack.baseUrl), {
    headers: { authorization: `Bearer ${stack.adminKey}` },
  });
  expect(response.status).toBe(200);
  return new Float32Array(await response.arrayBuffer());
}

it("a pool of agents is bred from zero towards its fitness, generation by generation", async () => {
  const { lowest, highest, ...spec } = pool;
  expect(await stack.client.call(endpoints.createAgentPool, { body: spec })).toMatchObject({
    digest: null,
    generation: 0,
    sizeBytes: 4 * 64 * 8,
    version: 1,
  });
  expect(await readStates("herd")).toEqual(new Float32Array(64 * 8));
  // Nearer to 1 in every number is fitter.
  const fitnessOf = (states: Float32Array) =>
    Array.from({ length: 64 }, (_, agent) =>
      states.subarray(agent * 8, agent * 8 + 8).reduce((sum, value) => sum - (value - 1) ** 2, 0),
    );
  const means: number[] = [];
  for (let generation = 1; generation <= 6; generation++) {
    const fitness = fitnessOf(await readStates("herd"));
    means.push(fitness.reduce((sum, value) => sum + value) / 64);
    const mutationRate = generation === 1 ? 1 : 0.1;
    const result = await finishJob("evolution", { pool: "herd", fitness, mutationRate, sigma: 0.5, lowest, highest });
    expect(result).toMatchObject({ pool: "herd", generation, fronts: null, place: { tier: "gpu" } });
    expect(result.best.fitness).toBe(Math.max(...fitness));
    const states = await readStates("herd");
    // The elite stands first, as it was.
    expect(fitnessOf(states)[0]).toBeCloseTo(result.best.fitness!, 5);
    if (generation === 1) expect(result.diversity.before).toBe(0);
    expect(result.diversity.after).toBeGreaterThan(0.1);
  }
  expect(means.at(-1)!).toBeGreaterThan(means[1]! + 1);
  const found = await stack.client.call(endpoints.getAgentPool, { params: { name: "herd" } });
  expect(found).toMatchObject({ generation: 6, version: 7 });
});

it("agents of several objectives are ranked by fronts", async () => {
  const objectives = Array.from({ length: 64 }, (_, agent) => [agent % 8, Math.floor(agent / 8)]);
  const result = await finishJob("evolution", { pool: "herd", objectives });
  expect(result.fronts).toBe(15);
  expect(result.best).toEqual({ agent: 63, fitness: null });
});

it("votes are counted, those of a pool, too, and conflicts are told", async () => {
  const votes = [
    [0, 1, 1, -1],
    [2, 2, -1, -1],
    [-1, -1, -1, -1],
  ];
  const proposals = [
    { round: 0, proposer: 0, id: 1, value: 5 },
    { round: 0, proposer: 1, id: 2, value: 6 },
    { round: 1, proposer: 1, id: 3, value: 7 },
  ];
  const counted = await finishJob("consensus", { votes, options: 3, quorumPercent: 75, proposals });
  expect(counted.ballots).toEqual([
    { tally: [1, 2, 0], quorum: true, leader: 1 },
    { tally: [0, 0, 2], quorum: false, leader: 2 },
    { tally: [0, 0, 0], quorum: false, leader: null },
  ]);
  expect(counted.conflicts).toEqual({ rounds: [0], proposers: [1] });
  const few = await finishJob("consensus", { votes, options: 3, quorumPercent: 100, electorate: [1, 2] });
  expect(few.ballots[0]).toEqual({ tally: [0, 2, 0], quorum: true, leader: 1 });
  const ofPool = await finishJob("consensus", { pool: "herd", options: 4 });
  const states = await readStates("herd");
  const tally = [0, 0, 0, 0];
  for (let agent = 0; agent < 64; agent++) {
    const own = states.subarray(agent * 8, agent * 8 + 4);
    tally[own.indexOf(Math.max(...own))]!++;
  }
  expect(ofPool.ballots).toMatchObject([{ tally, quorum: true }]);
});
