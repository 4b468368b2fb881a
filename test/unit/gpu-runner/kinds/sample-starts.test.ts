import { expect, test } from "vitest";
import { cartpole } from "../../../../kernels/environments/cartpole/cartpole.environment.ts";
import { sampleStarts } from "../../../../src/gpu-runner/kinds/steps/choose-backend.ts";
import { PolicyNetwork } from "../../../../src/protocol/models/policy-network.ts";

test("small policies are all drawn", () => {
  const network = PolicyNetwork.parse({ kind: "mlp", hidden: [] });
  const { members, weights } = sampleStarts(network, cartpole, 1, 8);
  expect({ members, numbers: weights.length }).toEqual({ members: 8, numbers: 8 * 10 });
  expect(new Set(weights.filter((weight) => weight !== 0)).size).toBe(8 * 8);
  expect(sampleStarts(network, cartpole, 1, 2 ** 20).members).toBe(1_024);
});

test("large ones are few, and the same again", () => {
  const network = PolicyNetwork.parse({ kind: "mlp", hidden: [512, 512] });
  const parameters = 5 * 512 + 513 * 512 + 513 * 2;
  const { members, weights } = sampleStarts(network, cartpole, 1, 2 ** 20);
  expect(members).toBe(Math.floor(2 ** 24 / parameters));
  expect(weights.length).toBe(members * parameters);
  expect(weights.subarray(-parameters)).toEqual(weights.subarray(0, parameters));
  expect(weights.subarray(0, 100).every((weight) => weight !== 0)).toBe(true);
});
