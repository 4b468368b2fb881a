import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { storeEvolution } from "../../../src/edge/kinds/evolution.ts";
import { findAgentPool, saveStates, toPooledAgents } from "../../../src/edge/store/kernels/agent-pool-store.ts";
import { putStates } from "../../../src/edge/services/pool-states.ts";
import { hexOf } from "../../../src/edge/store/secret.ts";
import { openProject } from "../../../src/edge/store/database.ts";
import { recordJobArtifact } from "../../../src/edge/store/artifact-store.ts";
import { EvolutionInput } from "../../../src/protocol/jobs/evolution.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import {
  byNumber,
  callEdge,
  fetchEdge,
  mainEnv,
  pointersOf,
  problemOf,
  type RegisteredRunner,
} from "../stack/edge-client.ts";
import { newRunner } from "../stack/queue-client.ts";
import { capabilities } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";

const create = (name: string, fields: object = {}) =>
  callEdge("POST", "/v1/agent-pools", { body: { name, agents: 2, stateSize: 4, ...fields } });
const write = (name: string, body: Uint8Array<ArrayBuffer>, ifMatch?: string) =>
  callEdge("PUT", `/v1/agent-pools/${name}/states`, {
    body,
    headers: {
      "content-type": "application/octet-stream",
      ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
    },
  });
const statesOf = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
const evolve = (fields: object) =>
  callEdge("POST", "/v1/jobs", { body: { kind: "evolution", pool: "bred", ...fields } });

describe("an agent pool", () => {
  it("is created once, listed, and deleted with its states", async () => {
    const created = await create("herd");
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({ digest: null, sizeBytes: 32, generation: 0, version: 1, residency: "gpu" });
    expect(problemOf(await create("herd")).code).toBe("conflict");
    expect((await callEdge("GET", "/v1/agent-pools")).json.items).toContainEqual(created.json);
    const written = await write("herd", statesOf(1, 2, 3, 4, 5, 6, 7, 8), '"1"');
    expect(written.status).toBe(200);
    const { digest } = written.json;
    const kept = async () => env.ARTIFACTS.head(`artifacts/${String(digest).replace(":", "/")}`);
    expect((await kept())?.size).toBe(32);
    expect((await callEdge("DELETE", "/v1/agent-pools/herd")).status).toBe(204);
    expect(await kept()).toBeNull();
    expect(problemOf(await callEdge("GET", "/v1/agent-pools/herd")).code).toBe("not-found");
  });

  it("takes states of its size and of numbers, by one of two that saw the same", async () => {
    await create("kept");
    expect(problemOf(await write("kept", statesOf(1))).code).toBe("precondition-required");
    expect(pointersOf(await write("kept", statesOf(1), '"1"'))).toEqual(["#"]);
    const broken = await write("kept", statesOf(1, 2, 3, 4, 5, Number.NaN, 7, 8), '"1"');
    expect(problemOf(broken).errors?.[0]?.message).toContain("number 1 of agent 1");
    const good = statesOf(1, 2, 3, 4, 5, 6, 7, 8);
    const replies = await Promise.all([write("kept", good, '"1"'), write("kept", good, '"1"')]);
    expect(replies.map(({ status }) => status).toSorted(byNumber)).toEqual([200, 412]);
    expect((await callEdge("GET", "/v1/agent-pools/kept")).json).toMatchObject({ version: 2 });
  });

  it("of many numbers is checked and digested while others work", async () => {
    const agents = 2_048;
    const [pool, bytes] = [(await create("wide", { agents, stateSize: 2_048 })).json, new Uint8Array(16 * 2 ** 20)];
    let others = 0;
    const timer = setInterval(() => others++, 0);
    const digest = await putStates(mainEnv, pool, bytes);
    clearInterval(timer);
    expect(others).toBeGreaterThanOrEqual(2);
    expect(digest).toBe(`sha256:${hexOf(await crypto.subtle.digest("SHA-256", bytes))}`);
    new DataView(bytes.buffer).setFloat32(bytes.length - 4, Number.NaN, true);
    await expect(putStates(mainEnv, pool, bytes)).rejects.toThrow(`number 2047 of agent ${agents - 1}`);
  });

  it("names what is wrong with it", async () => {
    expect(pointersOf(await create("odd", { stateSize: 6 }))).toEqual(["#/stateSize"]);
    expect(pointersOf(await create("many", { agents: LIMITS.poolAgents + 1 }))).toEqual(["#/agents"]);
    expect(pointersOf(await create("large", { agents: LIMITS.poolAgents, stateSize: 2_048 }))).toEqual(["#/agents"]);
    expect(pointersOf(await create("full", { minFreeHost: 1 }))).toEqual(["#/minFreeHost"]);
  });
});

describe("a generation", () => {
  const mediaType = "application/octet-stream";
  const digestOfByte = (byte: string) => `sha256:${byte.repeat(32)}`;
  const read = async () => (await callEdge("GET", "/v1/agent-pools/evolved")).json;

  it("is the pool's once, by the file that arrived, unless the pool was changed meanwhile", async () => {
    await create("evolved");
    const pool = toPooledAgents((await findAgentPool(openProject(mainEnv), "evolved"))!);
    const spec = { ...EvolutionInput.parse({ kind: "evolution", pool: "evolved", fitness: [1, 2] }), pool };
    const store = (jobId: string) => storeEvolution(mainEnv, { jobId, spec, result: { generation: 1 } });
    const [lost, short, whole, late] = [createId("job"), createId("job"), createId("job"), createId("job")];
    const put = (jobId: string, byte: string, sizeBytes: number) =>
      recordJobArtifact(mainEnv, jobId, { name: "population", digest: digestOfByte(byte), sizeBytes, mediaType }, 1);
    await put(short, "0a", 16);
    for (const job of [lost, short]) await store(job);
    expect(await read()).toMatchObject({ digest: null, generation: 0, version: 1 });
    await put(whole, "0b", 32);
    await put(late, "0c", 32);
    for (const job of [whole, whole, late]) await store(job);
    expect(await read()).toMatchObject({ digest: digestOfByte("0b"), generation: 1, version: 2 });
  });

  it("may begin with states that the pool had when its job was submitted", async () => {
    await create("moved");
    const { digest } = (await write("moved", statesOf(8, 7, 6, 5, 4, 3, 2, 1), '"1"')).json;
    const [holder, other] = [await newRunner(), await newRunner()];
    const scripted = await ScriptedRunner.connect(holder);
    const triad = capabilities.kernels.find(({ name }) => name === "triad")!;
    const kernels = [{ ...triad, name: "evolution-step" }];
    scripted.send({ type: "hello", capabilities: { ...capabilities, kernels }, running: [] });
    await scripted.next("welcome");
    expect((await evolve({ pool: "moved", fitness: [1, 2], runnerId: holder.runnerId })).status).toBe(202);
    await scripted.next("offer");
    await saveStates(openProject(mainEnv), "moved", 2, { digest: digestOfByte("0d"), generation: 1 });
    const fetchStates = ({ credential }: RegisteredRunner) =>
      fetchEdge("GET", `/v1/artifacts/${digest}`, { key: credential });
    expect([(await fetchStates(holder)).status, (await fetchStates(other)).status]).toEqual([200, 404]);
  });
});

describe("a job on a pool", () => {
  it("names what does not fit the pool", async () => {
    await create("bred");
    expect(pointersOf(await evolve({ pool: "nobody", fitness: [1] }))).toEqual(["#/pool"]);
    expect(pointersOf(await evolve({}))).toEqual(["#/fitness"]);
    expect(pointersOf(await evolve({ fitness: [1] }))).toEqual(["#/fitness"]);
    expect(pointersOf(await evolve({ objectives: [[1, 2], [1]] }))).toEqual(["#/objectives/1"]);
    expect(pointersOf(await evolve({ fitness: [1, 2], lowest: 2, highest: 1 }))).toEqual(["#/lowest"]);
    expect((await evolve({ fitness: [1, 2] })).status).toBe(202);
  });

  it("counts votes that are even, of options that there are", async () => {
    const count = (fields: object) =>
      callEdge("POST", "/v1/jobs", { body: { kind: "consensus", options: 3, ...fields } });
    expect(pointersOf(await count({}))).toEqual(["#/votes"]);
    expect(pointersOf(await count({ votes: [[0, 1], [0]] }))).toEqual(["#/votes/1"]);
    expect(pointersOf(await count({ votes: [[0, 3]] }))).toEqual(["#/votes/0/1"]);
    expect(pointersOf(await count({ votes: [[0, 1]], electorate: [2] }))).toEqual(["#/electorate/0"]);
    expect(pointersOf(await count({ pool: "nobody" }))).toEqual(["#/pool"]);
    await create("voters");
    expect(pointersOf(await count({ pool: "voters", options: 5 }))).toEqual(["#/options"]);
    expect((await count({ pool: "voters" })).status).toBe(202);
  });
});
