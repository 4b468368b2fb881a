import { expect, test } from "vitest";
import type { DeviceFleet } from "../../../../src/gpu-runner/serving/device-fleet.ts";
import type { WorkOptions } from "../../../../src/gpu-runner/device-host/device-host.ts";
import { BackendChoices, type BackendQuestion } from "../../../../src/gpu-runner/kinds/steps/choose-backend.ts";
import type { TrialRequest } from "../../../../src/gpu-runner/rollout/roll-out.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";
import { PolicyNetwork } from "../../../../src/protocol/models/policy-network.ts";

const QUESTION: BackendQuestion = {
  environment: "cartpole",
  network: PolicyNetwork.parse({ kind: "mlp" }),
  members: 1_000,
  episodes: 4,
  sample: () => ({ members: 1, weights: new Float32Array(226) }),
};

/** A GPU and the CPU with these steps per second; null: their trials fail. */
function createFleet(speeds: Readonly<Record<"wgsl" | "cpu-simd", number | null>>) {
  const trials: string[] = [];
  const requests: TrialRequest[] = [];
  const devices = Object.entries(speeds).map(([backend, stepsPerSecond]) => ({
    host: {
      waiting: 0,
      device: { key: backend === "wgsl" ? "gpu0" : "cpu", backends: [backend] },
      workApart: async (_: string, request: TrialRequest, __: number, ___: string, { signal }: WorkOptions) => {
        trials.push(backend);
        requests.push(request);
        await Promise.resolve();
        if (signal?.aborted) throw new ProblemError("cancelled", "ended");
        if (stepsPerSecond === null) throw new ProblemError("device-lost", "gone");
        return { stepsPerSecond, evaluations: 1 };
      },
    },
  }));
  const fleet = { all: () => devices } as unknown as DeviceFleet;
  return { choices: new BackendChoices(fleet), trials, requests };
}

test("takes the faster one, reports both speeds, and remembers it for sizes like it", async () => {
  const { choices, trials } = createFleet({ wgsl: 100, "cpu-simd": 250 });
  const choice = await choices.choose(QUESTION);
  expect(choice).toMatchObject({
    backend: "cpu-simd",
    chosenFrom: [
      { backend: "wgsl", stepsPerSecond: 100 },
      { backend: "cpu-simd", stepsPerSecond: 250 },
    ],
  });
  expect(choice.device.host.device.key).toBe("cpu");
  expect(await choices.choose({ ...QUESTION, members: 900 })).toEqual(choice);
  expect(trials).toEqual(["wgsl", "cpu-simd"]);
  await choices.choose({ ...QUESTION, members: 100_000 });
  expect(trials).toHaveLength(4);
});

test("what was asked for, or is the only one, is not tried", async () => {
  const { choices, trials } = createFleet({ wgsl: 100, "cpu-simd": 250 });
  expect(await choices.choose({ ...QUESTION, backend: "wgsl" })).toMatchObject({ backend: "wgsl", chosenFrom: [] });
  expect(await choices.choose({ ...QUESTION, deviceKey: "cpu" })).toMatchObject({ backend: "cpu-simd" });
  const network = PolicyNetwork.parse({ kind: "conv" });
  expect(await choices.choose({ ...QUESTION, network })).toMatchObject({ backend: "wgsl" });
  expect(trials).toEqual([]);
});

test("a trial that fails leaves the other, and all of them a problem that is not remembered", async () => {
  const half = createFleet({ wgsl: null, "cpu-simd": 250 });
  expect(await half.choices.choose(QUESTION)).toMatchObject({ backend: "cpu-simd", chosenFrom: [{}] });
  const none = createFleet({ wgsl: null, "cpu-simd": null });
  for (let attempt = 1; attempt <= 2; attempt++) {
    await expect(none.choices.choose(QUESTION)).rejects.toMatchObject({ problem: { code: "device-lost" } });
    expect(none.trials).toHaveLength(2 * attempt);
  }
  const network = PolicyNetwork.parse({ kind: "conv" });
  const asked = none.choices.choose({ ...QUESTION, network, backend: "cpu-simd" });
  await expect(asked).rejects.toMatchObject({ problem: { code: "backend-failed" } });
});

test("trials that another job began and gave up are made anew", async () => {
  const { choices, trials } = createFleet({ wgsl: 100, "cpu-simd": 250 });
  const giving = new AbortController();
  const first = choices.choose(QUESTION, { signal: giving.signal });
  const second = choices.choose(QUESTION, { signal: new AbortController().signal });
  giving.abort();
  await expect(first).rejects.toMatchObject({ problem: { code: "cancelled" } });
  expect(await second).toMatchObject({ backend: "cpu-simd", chosenFrom: [{}, {}] });
  expect(trials).toEqual(["wgsl", "wgsl", "cpu-simd"]);
});

test("tries an episode where none is asked for, so that what it remembers is a speed", async () => {
  const { choices, requests } = createFleet({ wgsl: 100, "cpu-simd": 250 });
  await choices.choose({ ...QUESTION, episodes: 0 });
  expect(requests.map(({ episodes }) => episodes)).toEqual([1, 1]);
});
