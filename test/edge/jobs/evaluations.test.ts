import { env } from "cloudflare:workers";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openDatabase } from "../../../src/edge/store/database.ts";
import { addPolicyScore } from "../../../src/edge/store/models/version-store.ts";
import { createEpisodesFile, writeEpisode } from "../../../src/protocol/jobs/evaluation/episodes-file.ts";
import type { EvaluationResult, EvaluationSpec } from "../../../src/protocol/jobs/evaluation/evaluation.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import type { Job } from "../../../src/protocol/jobs/job.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { Offer } from "../../../src/protocol/link.ts";
import { PolicyNetwork } from "../../../src/protocol/models/policy-network.ts";
import {
  callEdge,
  fetchEdge,
  missingId,
  pointersOf,
  problemOf,
  registerRunner,
  type Reply,
} from "../stack/edge-client.ts";
import { readJob } from "../stack/queue-client.ts";
import { POPULATION_FILES } from "../stack/population-files.ts";
import { benchmarkResult, capabilities } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { writeDenseFile } from "../stack/dense-file.ts";
import { cartpole, lenet5 } from "../stack/zoo.ts";
import { BOUND } from "../stack/runner-script.ts";

const announced = {
  name: "balance",
  description: "a pole",
  observationSize: 4,
  action: { kind: "discrete", count: 2 },
  stepLimit: 500,
  measures: 0,
  scores: { worst: 0, best: 500, solvedAt: 475 },
  digest: "sha256:1",
} as const;
const typed = { "content-type": "application/octet-stream" };
const EPISODES = 6;

const upload = (path: string, body: Uint8Array) => callEdge("POST", path, { body, headers: typed });
const submit = (changes: object = {}): Promise<Reply> =>
  callEdge("POST", "/v1/jobs", {
    body: { kind: "evaluation", environment: "balance", policies: ["pole"], episodes: EPISODES, ...changes },
  });

function fileOf(name: keyof typeof POPULATION_FILES): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(POPULATION_FILES[name]), (character) => character.charCodeAt(0));
}

const { environment } = benchmarkResult();
let runnerId = "";
let credential = "";
let scripted: ScriptedRunner;
beforeAll(async () => {
  const runner = await registerRunner();
  ({ runnerId, credential } = runner);
  await upload("/v1/models?name=pole", cartpole);
  await upload("/v1/models?name=digits", lenet5);
});

/** Anew each time: a runner that is silent while something long is computed counts as gone. */
beforeEach(async () => {
  scripted = await ScriptedRunner.connect({ runnerId, credential });
  const hello = { ...capabilities, kernels: [], environments: [announced] };
  scripted.send({ type: "hello", capabilities: hello, running: [] });
  await scripted.next("welcome");
  // A runner that reconnects this often is locked out.
  await callEdge("POST", `/v1/runners/${runnerId}/resume`);
});
afterAll(() => callEdge("DELETE", `/v1/runners/${runnerId}`));

/** The next offered evaluation; calibrations of the models belong to other tests. */
async function nextEvaluation(): Promise<Offer & { spec: EvaluationSpec }> {
  for (;;) {
    const offer = await scripted.next("offer");
    if (offer.spec.kind === "evaluation") return offer as Offer & { spec: EvaluationSpec };
    const problem = { type: "", title: "", status: 502, code: "backend-failed", detail: "not here" } as const;
    scripted.send({ type: "jobOutcome", lease: offer.lease, outcome: { ok: false, problem } });
  }
}

/** Acts as a runner: this many episodes with these returns for each member, and their statistics. */
async function finish({ lease, spec }: Offer & { spec: EvaluationSpec }, returnOf: (episode: number) => number) {
  const count = spec.entrants.reduce((sum, { members }) => sum + members, 0) * spec.episodes;
  const file = createEpisodesFile(count);
  let place = 0;
  for (const [entrant, { members }] of spec.entrants.entries()) {
    for (let at = 0; at < members * spec.episodes; at++) {
      const [member, episode] = [Math.floor(at / spec.episodes), at % spec.episodes];
      const outcome = { return: returnOf(episode), length: 9, cause: 1 };
      writeEpisode(new DataView(file.buffer), place++, { entrant, member, episode, ...outcome });
    }
  }
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", file));
  const digest = `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  const path = `/v1/link/jobs/${lease.jobId}/artifacts/episodes?epoch=${lease.epoch}&digest=${digest}`;
  const headers = { ...typed, "content-length": String(file.length) };
  const artifact = (await callEdge("PUT", path, { key: credential, body: file, headers })).json;
  const estimate = { value: 0.5, low: 0.4, high: 0.6 };
  const scores = {
    mean: { value: 250, low: 200, high: 300 },
    iqm: estimate,
    median: estimate,
    optimalityGap: estimate,
  };
  const result: EvaluationResult = {
    kind: "evaluation",
    task: { name: announced.name, digest: announced.digest },
    episodes: spec.episodes,
    seed: spec.seed,
    commonRandom: spec.commonRandom,
    entrants: spec.entrants.map(({ name, members, modelVersionId = null }) => ({
      name,
      modelVersionId,
      members,
      scores: { ...scores, profile: [0, 0.5, 1].map((tau) => ({ ...estimate, tau })), resamples: 50_000, seed: 1 },
      meanLength: 9,
      causes: { terminated: members * spec.episodes, truncated: 0, both: 0 },
      failed: [],
      failedMembers: 0,
      best: [],
    })),
    waves: 1,
    replay: null,
    throughput: {
      backend: "wgsl",
      chosenFrom: [],
      steps: 9 * count,
      evaluations: count,
      durationMs: 10,
      stepsPerSecond: 900 * count,
      evaluationsPerSecond: 100 * count,
      meanEpisodeLength: 9,
      parameters: spec.entrants[0]!.parameters,
      members: 1,
      inferenceIncluded: true,
    },
    scores: announced.scores,
    proof: { steps: 64, agreeing: 64, largestDifference: 1e-7 },
    artifact,
    environment,
  };
  const startedAt = new Date().toISOString();
  scripted.send({
    type: "jobOutcome",
    lease,
    outcome: { ok: true, result, deviceKey: environment.deviceKey, startedAt },
  });
  return vi.waitFor(async () => {
    const job: Job = await readJob(lease.jobId);
    expect(job.state).toBe("succeeded");
    return job;
  }, BOUND);
}

async function evaluate(changes: object, returnOf: (episode: number) => number): Promise<string> {
  expect((await submit(changes)).status).toBe(202);
  return (await finish(await nextEvaluation(), returnOf)).runId!;
}

describe("an evaluation", () => {
  it("gives a runner its policies as rows that it may fetch while it holds the lease, and no longer", async () => {
    expect((await submit()).status).toBe(202);
    const offer = await nextEvaluation();
    const [entrant] = offer.spec.entrants;
    expect(entrant).toMatchObject({ name: "pole@1", members: 1, offsetBytes: 0 });
    expect(entrant?.network).toEqual({ kind: "mlp", hidden: [16], activation: "tanh", outputActivation: "none" });
    const fetchRow = () => fetchEdge("GET", `/v1/artifacts/${entrant?.digest}`, { key: credential });
    const row = await fetchRow();
    expect((await row.arrayBuffer()).byteLength).toBe(4 * entrant!.parameters);
    await finish(offer, () => 1);
    expect((await fetchRow()).status).toBe(404);
  });

  it("is of a population by name, too, whose file is the entrant's", async () => {
    const network = encodeURIComponent('{"hidden":[]}');
    const { json: wrong } = await upload(`/v1/populations?network=${network}`, fileOf("npy"));
    const refused = await submit({ policies: undefined, population: wrong.id });
    expect(pointersOf(refused)).toEqual(["#/population"]);
    expect(problemOf(refused).detail).toContain("4-2 in this environment has 10");
  });

  it("names each field that is wrong", async () => {
    const wrong = async (changes: object) => pointersOf(await submit(changes));
    expect(await wrong({ environment: "nowhere" })).toEqual(["#/environment"]);
    expect(await wrong({ policies: ["pole", "nobody", "pole@9", "digits"] })).toEqual([
      "#/policies/1",
      "#/policies/2",
      "#/policies/3",
    ]);
    expect(await wrong({ policies: undefined, population: "nobody" })).toEqual(["#/population"]);
    expect(await wrong({ population: "nobody" })).toEqual(["#/policies"]);
    expect(await wrong({ policies: undefined })).toEqual(["#/policies"]);
    expect(await wrong({ episodes: LIMITS.memberEpisodes + 1 })).toEqual(["#/episodes"]);
    expect(await wrong({ record: LIMITS.recordedEpisodes + 1, episodes: 100 })).toEqual(["#/record"]);
    expect(await wrong({ record: EPISODES + 1 })).toEqual(["#/record"]);
    expect(await wrong({ record: 17, episodes: 17, policies: ["pole", "pole@1"] })).toEqual(["#/record"]);
    expect(await wrong({ deviceKey: "gpu9" })).toEqual(["#/deviceKey"]);
    expect(await wrong({ devices: ["gpu0", "gpu9"] })).toEqual(["#/devices"]);
    expect(await wrong({ devices: ["cpu"] })).toEqual(["#/devices"]);
    expect(await wrong({ devices: ["gpu0", "gpu0"] })).toEqual(["#/devices"]);
    expect(await wrong({ devices: [] })).toEqual(["#/devices"]);
    expect(await wrong({ devices: "all", deviceKey: "gpu0" })).toEqual(["#/devices"]);
    expect(await wrong({ devices: "all", backend: "cpu-simd" })).toEqual(["#/devices"]);
    expect(await wrong({ backend: "ort-cpu" })).toEqual(["#/backend"]);
    expect(await wrong({ seed: -1 })).toEqual(["#/seed"]);
    const many = Array.from({ length: LIMITS.evaluatedPolicies + 1 }, () => "pole");
    expect(await wrong({ policies: many })).toEqual(["#/policies"]);
  });
});

describe("a card", () => {
  it("loses none of several scores that come at once", async () => {
    const { json } = await upload("/v1/models?name=scored", cartpole);
    const network = PolicyNetwork.parse({ kind: "mlp" });
    const mean = { value: 1, low: 0, high: 2 };
    const runIds = Array.from({ length: 8 }, () => createId("run"));
    const scoreOf = (runId: string) =>
      ({ runId, environment: "balance", episodes: 1, seed: 1, mean, at: "2026-01-01T00:00:00.000Z" }) as const;
    const add = (runId: string) => addPolicyScore(openDatabase(env.DB), json.version.id, network, scoreOf(runId));
    await Promise.all(runIds.map(add));
    await add(runIds[0]!);
    const { card } = (await callEdge("GET", "/v1/models/scored")).json.versions[0];
    expect(card.scores.map(({ runId }: { runId: string }) => runId).toSorted()).toEqual(runIds.toSorted());
  });
});

describe("what it found", () => {
  it("stands in the history, on the model's card and in its plot", async () => {
    const runId = await evaluate({ label: "found" }, (episode) => episode);
    const { items } = (await callEdge("GET", "/v1/history/series?label=found")).json;
    const told = items.map(({ subject, metric, direction }: any) => `${subject} ${metric} ${direction}`).toSorted();
    expect(told).toEqual([
      "balance evaluationsPerSecond higher",
      "balance stepsPerSecond higher",
      "pole@1 iqm higher",
      "pole@1 meanReturn higher",
    ]);
    const { card } = (await callEdge("GET", "/v1/models/pole")).json.versions[0];
    expect(card).toMatchObject({ environment: "balance", training: null });
    expect(card.scores[0]).toMatchObject({ runId, environment: "balance", episodes: EPISODES, mean: { value: 250 } });
    const plot = await fetchEdge("GET", `/v1/runs/${runId}/plots/profile.svg`);
    expect(plot.headers.get("content-type")).toContain("image/svg+xml");
    expect(await plot.text()).toContain("performance profile");
  });

  it("is read episode by episode, in pages and as a table", async () => {
    const runId = await evaluate({ policies: ["pole", "pole@1"] }, (episode) => episode / 2);
    const read = async (query: string) => (await callEdge("GET", `/v1/runs/${runId}/episodes?${query}`)).json;
    const all = await read("");
    expect(all.items).toHaveLength(2 * EPISODES);
    expect(all.items[EPISODES + 2]).toEqual({
      entrant: 1,
      member: 0,
      episode: 2,
      return: 1,
      length: 9,
      terminated: true,
      truncated: false,
      failed: false,
    });
    const paged = [];
    let cursor = "";
    do {
      const page = await read(`limit=5${cursor}`);
      paged.push(...page.items);
      cursor = page.nextCursor === null ? "" : `&cursor=${page.nextCursor}`;
    } while (cursor !== "");
    expect(paged).toEqual(all.items);
    expect((await read("entrant=1")).items).toEqual(all.items.slice(EPISODES));
    expect((await read("entrant=1&member=0&fromEpisode=2&toEpisode=4")).items).toEqual(
      all.items.slice(EPISODES + 2, EPISODES + 4),
    );
    const picked = await read("fromEpisode=5&limit=1");
    expect(picked.items).toEqual([all.items[5]]);
    expect((await read(`fromEpisode=5&limit=1&cursor=${picked.nextCursor}`)).items).toEqual([all.items[11]]);
    for (const none of ["entrant=2", "member=1", "fromEpisode=6", "fromEpisode=3&toEpisode=3"]) {
      expect(await read(none)).toEqual({ items: [], nextCursor: null });
    }
    const csv = await fetchEdge("GET", `/v1/runs/${runId}/episodes?format=csv&limit=1`);
    expect((await csv.text()).split("\r\n").slice(0, 2)).toEqual([
      "entrant,member,episode,return,length,terminated,truncated,failed",
      "0,0,0,0,9,true,false,false",
    ]);
    expect(csv.headers.get("link")).toContain('rel="next"');
    const wrong = await callEdge("GET", `/v1/runs/${runId}/episodes?cursor=${btoa("[99]").replaceAll("=", "")}`);
    expect(pointersOf(wrong)).toEqual(["query/cursor"]);
  });

  it("is read from a file that its job left, and from none that it only names", async () => {
    const runId = await evaluate({}, () => 1);
    expect((await callEdge("GET", `/v1/runs/${runId}/episodes`)).status).toBe(200);
    await env.DB.prepare("delete from job_artifacts where job_id = ?").bind(runId.replace("run_", "job_")).run();
    expect(problemOf(await callEdge("GET", `/v1/runs/${runId}/episodes`)).code).toBe("not-found");
  });

  it("is held against another: paired where the draws were the same, else not, and why", async () => {
    const a = await evaluate({}, (episode) => 100 * episode);
    const b = await evaluate({}, (episode) => 100 * episode + 50);
    const other = await evaluate({ seed: 2 }, (episode) => 100 * episode + 50);
    const compare = async (left: string, right: string) =>
      callEdge("GET", `/v1/evaluations/compare?a=${left}&b=${right}`);
    const { json: paired } = await compare(a, b);
    expect(paired.tasks[0]).toMatchObject({ task: "balance", paired: true, unpairedBecause: null });
    const { value, low, high } = paired.tasks[0].returnDifference;
    expect([value, low, high].map((bound) => bound.toFixed(9))).toEqual(Array(3).fill("50.000000000"));
    expect(paired.difference.value).toBeCloseTo(0.1, 12);
    // Of 36 pairs, b is above in 21.
    expect(paired.probabilityOfImprovement.value).toBeCloseTo(21 / 36, 12);
    expect(paired.a.iqm.value).toBeCloseTo(0.5, 12);
    const { json: apart } = await compare(a, other);
    expect(apart.tasks[0]).toMatchObject({ paired: false, unpairedBecause: "the seeds differ: 1 and 2" });
    expect(apart.difference.low).toBeLessThan(0);
    const { json: several } = await compare(`${a},${a}`, `${b},${a}`);
    expect(several.tasks).toHaveLength(2);
    expect(several.difference.value).toBeCloseTo(0.05, 12);
    for (const [side, pointer] of [
      [`${a}:1`, "query/a"],
      [`${a}:0:1`, "query/a"],
      [`${a},${a}`, "query/b"],
      [missingId.run, "query/a"],
    ] as const) {
      expect(pointersOf(await compare(side, b)), side).toEqual([pointer]);
    }
  });
});

describe("a model as a row", () => {
  const layers = (...operators: string[]) => ({
    input: [-1, 4],
    output: [-1, 2],
    tensors: {
      u: { dims: [4, 2], floats: [1, 2, 3, 4, 5, 6, 7, 8] },
      a: { dims: [2], floats: [9, 10] },
      v: { dims: [2, 2], floats: [11, 12, 13, 14] },
      w: { dims: [2, 2], floats: [1, 0, 0, 1] },
    },
    nodes: operators.map((operator, index) => ({
      operator: operator.split(" ")[0]!,
      inputs: [index === 0 ? "x" : `h${index}`, ...operator.split(" ").slice(1)],
      output: index === operators.length - 1 ? "y" : `h${index + 1}`,
    })),
  });

  it("has the weights output by output and then the biases, layer by layer", async () => {
    await upload("/v1/models?name=tiny", writeDenseFile(layers("Gemm u a", "Relu", "MatMul v", "Softmax")));
    expect((await submit({ policies: ["tiny"] })).status).toBe(202);
    const offer = await nextEvaluation();
    const [entrant] = offer.spec.entrants;
    expect(entrant?.network).toEqual({ kind: "mlp", hidden: [2], activation: "relu", outputActivation: "none" });
    const row = await fetchEdge("GET", `/v1/artifacts/${entrant?.digest}`, { key: credential });
    const wanted = [1, 3, 5, 7, 2, 4, 6, 8, 9, 10, 11, 13, 12, 14, 0, 0];
    expect([...new Float32Array(await row.arrayBuffer())]).toEqual(wanted);
    await finish(offer, () => 1);
  });

  it.each([
    ["several activations", layers("Gemm u a", "Relu", "MatMul v", "Tanh", "MatMul w")],
    ["an activation that policies have not", layers("Gemm u a", "LeakyRelu", "MatMul v")],
    ["an activation behind an activation", layers("Gemm u a", "Relu", "Tanh", "MatMul v")],
  ])("is none with %s", async (name, file) => {
    const model = name.replaceAll(" ", "-");
    expect((await upload(`/v1/models?name=${model}`, writeDenseFile(file))).status).toBe(201);
    expect(pointersOf(await submit({ policies: [model] }))).toEqual(["#/policies/0"]);
  });
});
