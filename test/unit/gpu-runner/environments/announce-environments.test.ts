import { expect, test } from "vitest";
import { ENVIRONMENTS } from "../../../../kernels/environments/registry.ts";
import { announceEnvironments } from "../../../../src/gpu-runner/environments/announce-environments.ts";

test("every environment is announced with what its program is known by, and with the backends that can run it", async () => {
  const announced = new Map(
    (await announceEnvironments(ENVIRONMENTS)).map((environment) => [environment.name, environment]),
  );
  expect([...announced.keys()]).toEqual([...ENVIRONMENTS.keys()]);
  const digests = [...announced.values()].map(({ digest }) => digest);
  expect(new Set(digests).size).toBe(digests.length);
  for (const digest of digests) expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(announced.get("cartpole")?.backends).toEqual(["wgsl", "cpu-simd"]);
  expect(announced.get("hopper")?.backends).toEqual(["wgsl"]);
  // Its pictures want convolutions, which have no twin.
  expect(announced.get("breakout-rendered")).toMatchObject({ frames: true, backends: ["wgsl"] });
});
