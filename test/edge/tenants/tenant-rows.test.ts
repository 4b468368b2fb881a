import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { scopeEnv } from "../../../src/edge/config.ts";
import { addArchive } from "../../../src/edge/store/models/archive-store.ts";
import { digestOf, putArtifact, recordJobArtifact } from "../../../src/edge/store/artifact-store.ts";
import { openProject, type ProjectDatabase } from "../../../src/edge/store/database.ts";
import { recordStandings } from "../../../src/edge/store/kernels/standing-store.ts";
import { saveTuning } from "../../../src/edge/store/kernels/tuning-store.ts";
import { encodeArchive } from "../../../src/protocol/policies/archive-file.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { tuningIdOf } from "../../../src/protocol/jobs/tuning.ts";
import { callEdge, createProject, fetchEdge, missingId, problemOf } from "../stack/edge-client.ts";
import { counter } from "../stack/environment-samples.ts";
import { competitor, ownReference } from "../stack/kernel-samples.ts";
import { POPULATION_FILES } from "../stack/population-files.ts";
import { benchmarkResult, tuningResult } from "../stack/samples.ts";
import { cartpole, variantOf } from "../stack/zoo.ts";

/** Rows of two projects side by side: each sees, names and deletes only its own. */

const octets = { "content-type": "application/octet-stream" };
const population = Uint8Array.from(atob(POPULATION_FILES.npy), (character) => character.charCodeAt(0));
const network = encodeURIComponent('{"hidden":[],"activation":"relu"}');

let owner = { project: "", secret: "" };
let stranger = { project: "", secret: "" };
beforeAll(async () => {
  owner = await createProject("owner");
  stranger = await createProject("stranger");
});

const dbOf = ({ project }: { project: string }): ProjectDatabase => openProject(scopeEnv(env, project));
const get = (path: string, key: string) => callEdge("GET", path, { key });
const itemsOf = async (path: string, key: string): Promise<unknown[]> =>
  (await get(`${path}?limit=200`, key)).json.items;
const codeOf = async (method: string, path: string, key: string) =>
  problemOf(await callEdge(method, path, { key })).code;

interface Aggregate {
  readonly path: string;
  /** The field by which one is found. */
  readonly by: "id" | "name";
  readonly query?: (name: string) => string;
  readonly body: (name: string) => unknown;
  readonly headers?: Record<string, string>;
  /** The created object within the reply; by default the whole reply. */
  readonly toThing?: (json: any) => any;
  readonly isKept?: boolean;
}

const upload: Omit<Aggregate, "by"> = {
  path: "/v1/models",
  query: (name) => `?name=${name}`,
  body: () => cartpole,
  headers: octets,
  toThing: ({ model }) => model,
  isKept: true,
};
const fill: Omit<Aggregate, "by"> = {
  path: "/v1/populations",
  query: (name) => `?name=${name}&network=${network}`,
  body: () => population,
  headers: octets,
};

const aggregates: Record<string, Aggregate> = {
  "a profile": { path: "/v1/profiles", by: "name", body: (name) => ({ name, requirements: {} }) },
  "a requirement set": {
    path: "/v1/requirements",
    by: "name",
    body: (name) => ({ name, requirements: [{ metric: "latencyMs", percentile: 0.5, atMost: 10 }] }),
  },
  "a model by its name": { ...upload, by: "name" },
  "a model by its id": { ...upload, by: "id" },
  "a population by its name": { ...fill, by: "name" },
  "a population by its id": { ...fill, by: "id" },
  "an environment": {
    path: "/v1/environments",
    by: "id",
    body: (name) => ({ ...counter, name }),
  },
  "an item memory": { path: "/v1/item-memories", by: "name", body: (name) => ({ name, dimension: 3 }) },
  "an agent pool": { path: "/v1/agent-pools", by: "name", body: (name) => ({ name, agents: 2, stateSize: 4 }) },
  "a kernel": { path: "/v1/kernels", by: "id", body: (name) => ({ ...ownReference, name }) },
};

describe.each(Object.entries(aggregates))(
  "%s",
  (what, { path, by, query = () => "", body, headers = {}, toThing, isKept }) => {
    const name = what.replaceAll(" ", "-");
    const create = async (key: string) => {
      const reply = await callEdge("POST", `${path}${query(name)}`, {
        key,
        body: body(name),
        headers,
      });
      return { status: reply.status, thing: toThing === undefined ? reply.json : toThing(reply.json) };
    };
    const at = (thing: any) => `${path}/${thing[by]}`;
    const namesIn = async (key: string) => JSON.stringify(await itemsOf(path, key)).includes(`"${name}"`);

    it("of another project is not there, and cannot be deleted", async () => {
      const made = await create(owner.secret);
      expect(made.status).toBe(201);
      const before = await get(at(made.thing), owner.secret);
      expect([before.status, await namesIn(owner.secret)]).toEqual([200, true]);
      expect(await namesIn(stranger.secret)).toBe(false);
      expect(await codeOf("GET", at(made.thing), stranger.secret)).toBe("not-found");
      if (isKept !== true) expect(await codeOf("DELETE", at(made.thing), stranger.secret)).toBe("not-found");
      expect((await get(at(made.thing), owner.secret)).json).toEqual(before.json);
    });

    it("may have the same name, and goes alone", async () => {
      const { thing } = await create(owner.secret);
      const before = (await get(at(thing), owner.secret)).json;
      const own = await create(stranger.secret);
      expect(own.status).toBe(201);
      expect((await get(at(own.thing), stranger.secret)).status).toBe(200);
      if (isKept !== true) {
        expect((await callEdge("DELETE", at(own.thing), { key: stranger.secret })).status).toBe(204);
        expect(await codeOf("GET", at(own.thing), stranger.secret)).toBe("not-found");
      }
      expect((await get(at(thing), owner.secret)).json).toEqual(before);
    });
  },
);

describe("a model of another project", () => {
  const uploadTo = async (name: string, key: string, seed: number) =>
    (await callEdge("POST", `/v1/models?name=${name}`, { key, body: variantOf(cartpole, seed), headers: octets })).json;

  it("gets no version, variant, data or rule", async () => {
    const { model } = await uploadTo("guarded", owner.secret, 1);
    for (const named of ["guarded", model.id]) {
      const at = `/v1/models/${named}`;
      const sent = { key: stranger.secret, body: cartpole, headers: octets };
      const variant = await callEdge("POST", `${at}/versions/1/variants?name=mine`, sent);
      const rule = await callEdge("PUT", `${at}/placement`, { key: stranger.secret, body: { kind: "automatic" } });
      const compressed = await callEdge("POST", `${at}/variants`, {
        key: stranger.secret,
        body: { recipe: { method: "int8" } },
      });
      const codes = [variant, rule, compressed].map((reply) => problemOf(reply).code);
      expect(codes).toEqual(["not-found", "not-found", "not-found"]);
      expect(await codeOf("GET", `${at}/placements`, stranger.secret)).toBe("not-found");
    }
    expect((await uploadTo("guarded", stranger.secret, 2)).version.version).toBe(1);
    expect((await get("/v1/models/guarded", owner.secret)).json).toEqual(model);
  });

  it("is not what a job is about", async () => {
    const { version } = await uploadTo("unnamed", owner.secret, 3);
    const submit = (body: object) => callEdge("POST", "/v1/jobs", { key: stranger.secret, body });
    const calibration = await submit({ kind: "calibration", modelVersionId: version.id });
    expect(problemOf(calibration).errors).toMatchObject([{ pointer: "#/modelVersionId" }]);
    const evaluation = { kind: "compression", model: "unnamed", recipe: { method: "int8" } };
    expect(problemOf(await submit(evaluation)).errors).toMatchObject([{ pointer: "#/model" }]);
  });
});

describe("a kernel of another project", () => {
  it("cannot be competed with", async () => {
    const submit = (key: string, body: object) => callEdge("POST", "/v1/kernels", { key, body });
    const { json } = await submit(owner.secret, { ...ownReference, name: "lonely" });
    const rival = { ...competitor, name: "rival", reference: { kind: "kernel", kernel: json.id } };
    expect(problemOf(await submit(stranger.secret, rival)).code).toBe("unknown-kernel");
    expect((await submit(owner.secret, rival)).status).toBe(201);
    const board = `/v1/kernels/${json.id}/leaderboard`;
    expect((await get(board, owner.secret)).status).toBe(200);
    expect(await codeOf("GET", board, stranger.secret)).toBe("not-found");
  });
});

describe("what jobs left", () => {
  it("of an archive is its project's", async () => {
    const description = {
      environment: "arm",
      network: { kind: "direct" as const },
      parameters: 1,
      dims: [2],
      ranges: [{ low: 0, high: 1 }],
      offset: 0,
      prunedFrom: null,
    };
    const one = Float32Array.of(0.5);
    const elites = { cells: Uint32Array.of(1), fitness: one, measures: one, thresholds: one, genomes: one };
    const { summary, bytes } = encodeArchive(description, elites);
    const digest = await digestOf(bytes.buffer);
    await putArtifact(env.ARTIFACTS, digest, bytes.buffer);
    const input = { jobId: createId("job"), digest, sizeBytes: bytes.length, summary };
    const stored = (await addArchive(dbOf(owner), input))!;
    expect(await itemsOf("/v1/archives", owner.secret)).toEqual([stored]);
    expect(await itemsOf("/v1/archives", stranger.secret)).toEqual([]);
    for (const part of ["", "/elites", "/heatmap.svg", "/download"]) {
      const at = `/v1/archives/${stored.id}${part}`;
      expect((await fetchEdge("GET", at, { key: owner.secret })).status).toBe(200);
      expect(await codeOf("GET", at, stranger.secret)).toBe("not-found");
    }
    expect(await codeOf("DELETE", `/v1/archives/${stored.id}`, stranger.secret)).toBe("not-found");
  });

  it("of files is the job's project's", async () => {
    const bytes = Uint8Array.of(1, 2, 3);
    const digest = await digestOf(bytes.buffer);
    await putArtifact(env.ARTIFACTS, digest, bytes.buffer);
    const jobId = createId("job");
    const file = {
      name: "checkpoint",
      digest,
      sizeBytes: bytes.length,
      mediaType: "application/octet-stream",
    } as const;
    await recordJobArtifact(scopeEnv(env, owner.project), jobId, file, Date.now());
    for (const path of [`/v1/jobs/${jobId}/artifacts`, `/v1/jobs/${jobId}/artifacts/checkpoint`]) {
      expect((await fetchEdge("GET", path, { key: owner.secret })).status).toBe(200);
      expect(await codeOf("GET", path, stranger.secret)).toBe("not-found");
    }
  });

  it("of a tuning is kept apart from the same one of another project", async () => {
    const result = tuningResult();
    const id = await tuningIdOf(result.tuning);
    const save = (db: ProjectDatabase, jobId: string) =>
      saveTuning(db, { jobId, runnerId: missingId.runner, endedAtMs: 1 }, result);
    const [first, second] = [createId("job"), createId("job")];
    await save(dbOf(owner), first);
    expect(await codeOf("GET", `/v1/tunings/${id}`, stranger.secret)).toBe("not-found");
    expect(await itemsOf("/v1/tunings", stranger.secret)).toEqual([]);
    await save(dbOf(stranger), second);
    const jobOf = async (key: string) => (await get(`/v1/tunings/${id}`, key)).json.tuning.jobId;
    expect([await jobOf(owner.secret), await jobOf(stranger.secret)]).toEqual([first, second]);
  });

  it("of a leaderboard competes within the project alone", async () => {
    const slow = benchmarkResult(Array.from({ length: 100 }, () => 2));
    const quick = benchmarkResult(Array.from({ length: 100 }, () => 1));
    const run = { atMs: 1, reference: "triad" };
    await recordStandings(dbOf(owner), slow, { ...run, runId: createId("run") });
    const board = async (key: string) => (await get("/v1/kernels/triad/leaderboard", key)).json.boards;
    const before = await board(owner.secret);
    expect(before).not.toEqual([]);
    expect(await codeOf("GET", "/v1/kernels/triad/leaderboard", stranger.secret)).toBe("not-found");
    await recordStandings(dbOf(stranger), quick, { ...run, runId: createId("run") });
    expect(await board(stranger.secret)).not.toEqual([]);
    expect(await board(owner.secret)).toEqual(before);
  });
});
