import { createHash } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cartpole } from "../../../kernels/environments/cartpole/cartpole.environment.ts";
import { CAUSES, rollOut } from "../../../kernels/rollout/roll-out.reference.ts";
import { judgeProof, planProof } from "../../../src/gpu-runner/kinds/evaluation/prove-environment.ts";
import { DeviceHost } from "../../../src/gpu-runner/device-host/device-host.ts";
import { runEvaluation } from "../../../src/gpu-runner/kinds/evaluation/run-evaluation.ts";
import { EPISODE_BYTES, EPISODES_OFFSET, readEpisode } from "../../../src/protocol/jobs/evaluation/episodes-file.ts";
import { EvaluationResult, EvaluationSpec, type Episode } from "../../../src/protocol/jobs/evaluation/evaluation.ts";
import type { JobProgress } from "../../../src/protocol/jobs/job.ts";
import type { PolicyNetwork } from "../../../src/protocol/models/policy-network.ts";
import { readReplay, REPLAY_FIELDS } from "../../../src/protocol/jobs/evaluation/replay-file.ts";
import { seededUniform } from "../../../kernels/seeded-uniform.ts";
import { CACHE_DIR } from "../../kernels/software-gpu-cache.ts";

const TIMEOUT_MS = 300_000;
const network: PolicyNetwork = { kind: "mlp", hidden: [4], activation: "tanh", outputActivation: "none" };
const PARAMETERS = 4 * 4 + 4 + 4 * 2 + 2;
const EPISODES = 6;

let host: DeviceHost;
beforeAll(async () => {
  const options = { role: "gpu", deviceKey: "gpu0", cacheDir: CACHE_DIR, driver: "software" } as const;
  host = await DeviceHost.start({ ...options, logger: pino({ level: "silent" }) });
}, TIMEOUT_MS);
afterAll(() => host.stop());

const digestOf = (bytes: Uint8Array) => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** Runs an evaluation as a runner does, of these rows each an entrant; gives its result and every episode. */
async function evaluate(entrants: readonly Float32Array<ArrayBuffer>[], changes: object = {}) {
  const rowFiles = new Map(
    entrants.map((rows) => [digestOf(new Uint8Array(rows.buffer)), new Uint8Array(rows.buffer)]),
  );
  const spec = EvaluationSpec.parse({
    kind: "evaluation",
    environment: "cartpole",
    episodes: EPISODES,
    seed: 3,
    entrants: entrants.map((rows, index) => ({
      name: `entrant-${index}`,
      digest: digestOf(new Uint8Array(rows.buffer)),
      offsetBytes: 0,
      members: rows.length / PARAMETERS,
      parameters: PARAMETERS,
      network,
    })),
    ...changes,
  });
  const phases = new Set<string>();
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const context = {
    fleet: { use: (_: unknown, work: () => unknown) => work() },
    backends: { choose: async () => ({ backend: "wgsl", device: { host }, chosenFrom: [] }) },
    residency: { read: async (digest: string) => rowFiles.get(digest) },
    artifacts: {
      put: async (name: string, bytes: Uint8Array<ArrayBuffer>) => {
        files.set(name, bytes);
        return { name, digest: digestOf(bytes), sizeBytes: bytes.length, mediaType: "application/octet-stream" };
      },
    },
    environment: null,
    userKernels: false,
    otherJobs: 0,
    signal: new AbortController().signal,
    onProgress: ({ phase }: JobProgress) => phases.add(phase),
  };
  const result = EvaluationResult.parse((await runEvaluation(spec, context as never)).result);
  const file = files.get("episodes") ?? new Uint8Array();
  const view = new DataView(file.buffer, EPISODES_OFFSET * Math.sign(file.length));
  const episodes = Array.from({ length: view.byteLength / EPISODE_BYTES }, (_, at) =>
    readEpisode(view, at * EPISODE_BYTES),
  );
  return { result, episodes, phases, replay: files.get("replay") };
}

const three = seededUniform(7, 0, 3 * PARAMETERS);

test(
  "entrants get their own episodes, scores and causes, and the device shows first that it is right",
  { timeout: TIMEOUT_MS },
  async () => {
    const broken = seededUniform(9, 0, 2 * PARAMETERS);
    broken[3] = Number.NaN;
    const { result, episodes, phases } = await evaluate([three, broken]);
    expect([...phases]).toEqual(expect.arrayContaining(["fetching", "choosing a backend", "proving", "scoring"]));
    expect(result.proof).toMatchObject({ steps: 64, agreeing: 64 });
    expect(result.task).toEqual({ name: "cartpole", digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
    expect(episodes).toHaveLength(5 * EPISODES);
    const keyed = episodes.map(({ entrant, member, episode }) => [entrant, member, episode]);
    expect(keyed[3 * EPISODES + 1]).toEqual([1, 0, 1]);
    for (const told of episodes.filter(({ entrant }) => entrant === 0)) {
      expect(told).toMatchObject(expectedOf(three, told));
    }
    expect(result.entrants[1]).toMatchObject({
      members: 2,
      failedMembers: 1,
      failed: [{ member: 0, reason: "has a weight that is NaN or infinite" }],
    });
    const own = episodes.filter(({ entrant }) => entrant === 0).map((told) => told.return!);
    const [first] = result.entrants;
    expect(first?.scores?.mean.value).toBeCloseTo(own.reduce((sum, value) => sum + value, 0) / own.length, 5);
    expect(first?.scores).toMatchObject({ resamples: 50_000, seed: 1 });
    expect(first?.causes).toEqual({ terminated: 3 * EPISODES, truncated: 0, both: 0 });
    expect(first?.best).toHaveLength(3);
    const steps = episodes.reduce((sum, { length }) => sum + length, 0);
    expect(result.throughput).toMatchObject({ steps, evaluations: 5 * EPISODES, members: 5, parameters: PARAMETERS });
  },
);

/** The reference's result of an episode; f32 takes the same actions in episodes this short. */
function expectedOf(rows: Float32Array, { member, episode }: Episode) {
  const row = rows.subarray(member * PARAMETERS, (member + 1) * PARAMETERS);
  const { total, length, cause } = rollOut(cartpole, network, row, { seed: 3, member, episode, commonRandom: true });
  return { return: total, length, terminated: (cause & CAUSES.terminated) !== 0 };
}

test(
  "the first episodes of each entrant are recorded state by state, of several members the best's",
  { timeout: TIMEOUT_MS },
  async () => {
    const { result, episodes, replay } = await evaluate([three, three.slice(0, PARAMETERS)], { record: 2 });
    expect(result.replay).toMatchObject({ name: "replay", sizeBytes: replay!.length, digest: digestOf(replay!) });
    const { fields, records } = readReplay(replay!);
    expect(fields.map(({ name }) => name).slice(REPLAY_FIELDS.length)).toEqual([
      "action",
      ...["x", "xSpeed", "angle", "angleSpeed"].map((name) => `state.${name}`),
    ]);
    const named = Map.groupBy(records, ([entrant, member, episode]) => [entrant, member, episode].join());
    const best = result.entrants[0]!.best[0]!.member;
    expect([...named.keys()]).toEqual([`0,${best},0`, `0,${best},1`, "1,0,0", "1,0,1"]);
    for (const [key, states] of named) {
      const [entrant, member, episode] = key.split(",").map(Number);
      const told = episodes.find(
        (each) => each.entrant === entrant && each.member === member && each.episode === episode,
      )!;
      // One more state than steps; the last has the cause and no action.
      expect(states.map((state) => state[3])).toEqual(Array.from({ length: told.length + 1 }, (_, step) => step));
      expect(states.reduce((sum, state) => sum + state[4]!, 0)).toBe(told.return);
      expect(states.map((state) => state[5])).toEqual([...Array(told.length).fill(0), CAUSES.terminated]);
      expect(states.map((state) => Number.isNaN(state[6]))).toEqual([...Array(told.length).fill(false), true]);
      expect(Math.abs(states.at(-1)![9]!)).toBeGreaterThan(0.2);
    }
  },
);

test("no episodes check the policies alone", { timeout: TIMEOUT_MS }, async () => {
  const broken = Float32Array.from(three);
  broken[PARAMETERS] = Number.POSITIVE_INFINITY;
  const { result, episodes } = await evaluate([broken], { episodes: 0 });
  expect(episodes).toEqual([]);
  expect(result).toMatchObject({ throughput: null, artifact: null });
  expect(result.entrants[0]).toMatchObject({ scores: null, meanLength: null, failedMembers: 1, best: [] });
});

test("a device that moves an environment otherwise fails with numbers", async () => {
  const request = planProof(cartpole);
  const states = new Float64Array(8 * 9 * 4);
  const trace = {
    states,
    rewards: new Float64Array(64).fill(1),
    terminated: Array.from({ length: 64 }, () => false),
    observations: new ArrayBuffer(0),
  };
  await expect(judgeProof(cartpole, request, trace)).rejects.toThrow(/of \d+ steps agree, the largest difference is/);
});
