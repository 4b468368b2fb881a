import { expect, it } from "vitest";
import { environmentNamed } from "../../../../kernels/environments/registry.ts";
import { planRollOut, playReference } from "../../../../src/gpu-runner/device-suite/environments.ts";

it("plays every member's episode", async () => {
  const request = planRollOut(environmentNamed("asterix-plain"));
  const { lengths, returns } = await playReference(request, new AbortController().signal);
  expect([lengths, returns].map((each) => Array.from(each).reduce((sum, one) => sum + one, 0))).toEqual([846, 5]);
});

it("ends where the suite does", async () => {
  const ending = new AbortController();
  const playing = playReference(planRollOut(environmentNamed("freeway-plain")), ending.signal);
  setImmediate(() => ending.abort());
  await expect(playing).rejects.toThrow("aborted");
});
