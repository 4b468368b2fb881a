import { describe, expect, it } from "vitest";
import { callEdge, pointersOf } from "../stack/edge-client.ts";

/** Shows two numbers and takes one of three actions. */
const environment = {
  name: "two-numbers",
  description: "Shows two numbers",
  observationSize: 2,
  action: { kind: "discrete", count: 3 },
  stepLimit: 10,
  measures: 0,
  scores: { worst: 0, best: 10, solvedAt: null },
  wgsl: `struct State { at: f32 }
fn reset(random: ptr<function, Random>) -> State { return State(0f); }
fn observe(state: State) -> Observation { return Observation(state.at, 1f); }
fn step(state: ptr<function, State>, action: Action, random: ptr<function, Random>) -> Transition {
  return Transition(1f, false);
}`,
  stateWords: 1,
} as const;

async function train(body: object) {
  await callEdge("POST", "/v1/environments", { body: environment });
  return callEdge("POST", "/v1/jobs", { body: { kind: "training", environment: environment.name, ...body } });
}

const species = { name: "species" };
const graph = { kind: "graph" };

describe("a training", () => {
  it("takes graphs for species, and takes them for nothing else", async () => {
    expect(pointersOf(await train({ algorithm: species }))).toEqual(["#/network/kind"]);
    for (const name of ["openes", "pgpe", "sep-cma-es", "genetic"])
      expect(pointersOf(await train({ algorithm: { name }, network: graph }))).toEqual(["#/network/kind"]);
    expect(await train({ algorithm: species, network: graph })).toMatchObject({ status: 202 });
  });

  it("wants as many connections as a graph begins with", async () => {
    const trainWith = (connections: number) => train({ algorithm: species, network: { ...graph, connections } });
    expect(pointersOf(await trainWith(8))).toEqual(["#/network/connections"]);
    expect(await trainWith(9)).toMatchObject({ status: 202 });
  });

  it("wants fewer elites than members", async () => {
    const trainWith = (elites: number) => train({ algorithm: { name: "genetic", population: 8, elites } });
    expect(pointersOf(await trainWith(8))).toEqual(["#/algorithm/elites"]);
    expect(await trainWith(7)).toMatchObject({ status: 202 });
  });

  it("wants rates and sizes within bounds", async () => {
    const algorithm = { ...species, population: 16_385, addNode: 1.1, addConnection: -0.1, sigma: 0 };
    const pointers = pointersOf(
      await train({ algorithm, network: { ...graph, hiddenNodes: 513, connections: 4_097 } }),
    );
    expect(pointers.toSorted()).toEqual([
      "#/algorithm/addConnection",
      "#/algorithm/addNode",
      "#/algorithm/population",
      "#/algorithm/sigma",
      "#/network/connections",
      "#/network/hiddenNodes",
    ]);
  });

  it("may publish a graph", async () => {
    const publish = { model: "grown" };
    expect(await train({ algorithm: species, network: graph, publish })).toMatchObject({ status: 202 });
  });
});
