/** Evaluations and consensuses that several devices share: two SwiftShader processes represent two equal cards. */
import { createHash } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import { readConfig } from "../../../src/gpu-runner/config.ts";
import { BackendChoices } from "../../../src/gpu-runner/kinds/steps/choose-backend.ts";
import { runEvaluation } from "../../../src/gpu-runner/kinds/evaluation/run-evaluation.ts";
import { runConsensus } from "../../../src/gpu-runner/kinds/consensus.ts";
import { DeviceFleet } from "../../../src/gpu-runner/serving/device-fleet.ts";
import { ConsensusResult, ConsensusSpec } from "../../../src/protocol/jobs/consensus.ts";
import { EvaluationResult, EvaluationSpec } from "../../../src/protocol/jobs/evaluation/evaluation.ts";
import type { JobProgress } from "../../../src/protocol/jobs/job.ts";
import type { PolicyNetwork } from "../../../src/protocol/models/policy-network.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";
import { childPids } from "../child-pids.ts";

const TIMEOUT_MS = 600_000;
const network: PolicyNetwork = { kind: "mlp", hidden: [4], activation: "tanh", outputActivation: "none" };
const PARAMETERS = 4 * 4 + 4 + 4 * 2 + 2;
const digestOf = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

let fleet: DeviceFleet;
let residents: readonly number[];
beforeAll(async () => {
  const config = readConfig({ MILLRACE_RUNNER_DIR: CACHE_DIR, MILLRACE_GPU: "software,software" });
  fleet = await DeviceFleet.start(config, pino({ level: "silent" }));
  // The two are equal, also where one of them stood still in an earlier evaluation.
  vi.spyOn(fleet, "speedOf").mockReturnValue(null);
  residents = await childPids(process.pid);
}, TIMEOUT_MS);
afterAll(() => fleet.stop());

/** Evaluates a population as a runner does; gives its result and the file of episodes. */
async function evaluate(changes: object, onProgress: (progress: JobProgress) => void = () => {}, members = 301) {
  const rows = new Uint8Array(seededUniform(7, 0, members * PARAMETERS).buffer);
  const entrant = { name: "population", digest: digestOf(rows), offsetBytes: 0, parameters: PARAMETERS, network };
  const spec = EvaluationSpec.parse({
    kind: "evaluation",
    environment: "cartpole",
    episodes: 3,
    seed: 3,
    entrants: [{ ...entrant, members }],
    ...changes,
  });
  let file = new Uint8Array();
  const context = {
    fleet,
    backends: new BackendChoices(fleet),
    residency: { read: async () => rows },
    artifacts: {
      put: async (name: string, bytes: Uint8Array<ArrayBuffer>) => {
        file = bytes;
        return { name, digest: digestOf(bytes), sizeBytes: bytes.length, mediaType: "application/octet-stream" };
      },
    },
    environment: null,
    userKernels: false,
    otherJobs: 0,
    signal: new AbortController().signal,
    onProgress,
  };
  const { result } = await runEvaluation(spec, context as never);
  return { result: EvaluationResult.parse(result), episodes: digestOf(file) };
}

const keysOf = ({ throughput }: EvaluationResult) => throughput?.devices?.map(({ deviceKey }) => deviceKey);

test.each([
  ["members, each with draws of its own", { commonRandom: false }, 301],
  ["episodes, of which there are more than members", { episodes: 401 }, 2],
])(
  "devices share %s, and the results are one device's to the bit",
  { timeout: TIMEOUT_MS },
  async (_, spec, members) => {
    const alone = await evaluate({ ...spec, devices: ["gpu0"] }, undefined, members);
    const shared = await evaluate({ ...spec, devices: "all" }, undefined, members);
    expect(shared.episodes).toBe(alone.episodes);
    expect(shared.result.entrants).toEqual(alone.result.entrants);
    expect([keysOf(alone.result), keysOf(shared.result)]).toEqual([["gpu0"], ["gpu0", "gpu1"]]);
    const { steps, evaluations, devices = [] } = shared.result.throughput!;
    const sumOf = (key: "steps" | "evaluations") => devices.reduce((sum, each) => sum + each[key], 0);
    expect([sumOf("steps"), sumOf("evaluations")]).toEqual([steps, evaluations]);
    expect(devices.every(({ evaluations: own }) => own > 0.4 * evaluations)).toBe(true);
    expect(shared.result.faults).toBeUndefined();
  },
);

test("the share of one that is killed in mid-job is computed by the other", { timeout: TIMEOUT_MS }, async () => {
  const large = { episodes: 100, seed: 4 };
  const alone = await evaluate({ ...large, devices: ["gpu1"] });
  let victim: Promise<void> | null = null;
  const shared = await evaluate({ ...large, devices: ["gpu0", "gpu1"] }, ({ phase, done }) => {
    if (phase === "roll-out" && done > 0) victim ??= killOne();
  });
  expect(shared.episodes).toBe(alone.episodes);
  expect(shared.result.faults).toMatchObject([{ code: "device-lost", action: "retried-elsewhere" }]);
  expect(shared.result.faults![0]!.detail).toMatch(/^gpu[01] was lost, and gpu[01] computed its share anew/);
  expect(keysOf(shared.result)).toHaveLength(1);
});

/** Kills one of the processes that roll out. */
async function killOne(): Promise<void> {
  const rolling = (await childPids(process.pid)).find((pid) => !residents.includes(pid));
  if (rolling !== undefined) process.kill(rolling, "SIGKILL");
}

test("where no other device is left, its next process computes the share", { timeout: TIMEOUT_MS }, async () => {
  let victim: Promise<void> | null = null;
  const { result } = await evaluate({ episodes: 100, devices: ["gpu0"] }, ({ phase, done }) => {
    if (phase === "roll-out" && done > 0) victim ??= killOne();
  });
  expect(result.faults).toMatchObject([{ code: "device-lost", action: "retried" }]);
});

test("a device that is not there is named", async () => {
  await expect(evaluate({ devices: ["gpu0", "gpu7"] })).rejects.toThrow("no GPU gpu7; its GPUs are: gpu0, gpu1");
});

test("ballots of a consensus are counted by both, as by one", { timeout: TIMEOUT_MS }, async () => {
  const count = async (devices: ConsensusSpec["devices"]) => {
    const votes = Array.from({ length: 5 }, (_, ballot) =>
      Array.from({ length: 70 }, (__, voter) => (voter * ballot) % 4),
    );
    const spec = ConsensusSpec.parse({ kind: "consensus", options: 4, votes, devices });
    const context = { fleet, otherJobs: 0, signal: new AbortController().signal, onProgress: () => {} };
    return ConsensusResult.parse((await runConsensus(spec, context as never)).result);
  };
  const alone = await count(undefined);
  const shared = await count("all");
  expect(shared.ballots).toEqual(alone.ballots);
  expect(shared.ballots[0]).toEqual({ tally: [70, 0, 0, 0], quorum: true, leader: 0 });
  expect(alone.devices).toBeUndefined();
  expect(shared.devices).toMatchObject([
    { deviceKey: "gpu0", ballots: 3 },
    { deviceKey: "gpu1", ballots: 2 },
  ]);
});
