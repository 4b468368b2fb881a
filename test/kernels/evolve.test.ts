import { expect, test } from "vitest";
import { learn } from "../../bench/learning/learn.ts";
import { PolicyNetwork } from "../../src/protocol/models/policy-network.ts";
import { Algorithm } from "../../src/protocol/jobs/training.ts";
import { openAdapters } from "./open-adapters.ts";

const plan = {
  generations: 100,
  episodes: 1,
  seed: 2,
  evaluation: { everyGenerations: 5, episodes: 1 },
  // No error reaches ½ above it.
  stopAt: 3.75,
  solvedAt: null,
  budgetMs: 300_000,
  checkpointMs: 300_000,
};
const watch = { signal: new AbortController().signal, onProgress: () => undefined, onCheckpoint: () => undefined };

test.each([
  ["species", { kind: "graph" }],
  ["genetic", { kind: "mlp", hidden: [4], outputActivation: "sigmoid" }],
])("exclusive or is learnt by %s on a device", async (name, form) => {
  const [algorithm, network] = [Algorithm.parse({ name }), PolicyNetwork.parse(form)];
  for (const adapter of await openAdapters()) {
    const request = { environment: "xor", environmentDigest: null, network, algorithm, plan, checkpoint: null };
    const { state, returns } = await adapter.workApart("train", request, 300_000, "device-lost", watch);
    expect(returns[0]).toBeGreaterThan(3.75);
    for (const { species } of state.curve) {
      if (name === "genetic") expect(species).toBeUndefined();
      else expect(species!.largest.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(150);
    }
  }
});

test.each([
  ["species", { kind: "graph" }],
  ["genetic", { kind: "mlp", hidden: [16] }],
])("a pole is balanced by %s on the CPU", async (name, network) => {
  const task = { environment: "cartpole", generations: 20, episodes: 16, everyGenerations: 1, stopAt: 475 };
  const { solvedAt, fresh } = await learn({ ...task, network, algorithm: { name } }, 1);
  expect(solvedAt).not.toBeNull();
  expect(fresh).toBeGreaterThan(450);
});
