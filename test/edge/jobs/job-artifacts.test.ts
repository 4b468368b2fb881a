import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { pruneJobArtifacts } from "../../../src/edge/store/artifact-store.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { Lease } from "../../../src/protocol/link.ts";
import {
  ADMIN,
  callEdge,
  fetchEdge,
  missingId,
  pointersOf,
  problemOf,
  type RegisteredRunner,
} from "../stack/edge-client.ts";
import { expireLeases, newOnlineRunner, submitJob } from "../stack/queue-client.ts";

const toBytes = (text: string) => new Uint8Array(new TextEncoder().encode(text));
const bytes = toBytes("the first file of a job");
const others = toBytes("another");

async function digestOf(content: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

let runner: RegisteredRunner;
let lease: Lease;
beforeEach(async () => {
  const online = await newOnlineRunner();
  runner = online;
  await submitJob({ kernel: "triad", runnerId: online.runnerId });
  lease = (await online.scripted.next("offer")).lease;
});

interface Put {
  readonly content?: Uint8Array<ArrayBuffer>;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly path?: string;
  readonly key?: string;
}

async function put({ content = bytes, query = {}, headers = {}, path, key = runner.credential }: Put = {}) {
  const asked = { epoch: String(lease.epoch), digest: await digestOf(content), ...query };
  const route = path ?? `/v1/link/jobs/${lease.jobId}/artifacts/checkpoint`;
  return callEdge("PUT", `${route}?${new URLSearchParams(asked).toString()}`, {
    key,
    body: content,
    headers: {
      "content-type": "application/octet-stream",
      "content-length": String(content.byteLength),
      ...headers,
    },
  });
}

const list = async () => (await callEdge("GET", `/v1/jobs/${lease.jobId}/artifacts`)).json.items;
const isStored = async (digest: string) => (await env.ARTIFACTS.head(`artifacts/${digest.replace(":", "/")}`)) !== null;

describe("a file of a job", () => {
  it("is kept by its runner, read by callers and by the runner that resumes", async () => {
    const stored = await put();
    const artifact = {
      name: "checkpoint",
      digest: await digestOf(bytes),
      sizeBytes: bytes.byteLength,
      mediaType: "application/octet-stream",
    };
    expect([stored.status, stored.json]).toEqual([200, artifact]);
    expect((await put()).json).toEqual(artifact);
    expect(await list()).toEqual([artifact]);
    const read = await fetchEdge("GET", `/v1/jobs/${lease.jobId}/artifacts/checkpoint`);
    expect(new Uint8Array(await read.arrayBuffer())).toEqual(bytes);
    expect(read.headers.get("content-type")).toBe("application/octet-stream");
    const own = await fetchEdge("GET", `/v1/link/jobs/${lease.jobId}/artifacts/checkpoint?epoch=${lease.epoch}`, {
      key: runner.credential,
    });
    expect(new Uint8Array(await own.arrayBuffer())).toEqual(bytes);
  });

  it("is replaced by the next of its name, whose bytes alone stay", async () => {
    const mine = toBytes(`of ${lease.jobId} alone`);
    await put({ content: mine });
    await put({ content: others });
    expect(await list()).toMatchObject([{ digest: await digestOf(others), sizeBytes: others.byteLength }]);
    expect([await isStored(await digestOf(mine)), await isStored(await digestOf(others))]).toEqual([false, true]);
  });

  it("stays while another job has it, and goes with its time", async () => {
    await put();
    await put({ path: `/v1/link/jobs/${lease.jobId}/artifacts/policy` });
    await put({ content: others });
    expect(await isStored(await digestOf(bytes))).toBe(true);
    await pruneJobArtifacts(env.DB, env.ARTIFACTS, Date.now() - 60_000);
    expect(await list()).toHaveLength(2);
    await pruneJobArtifacts(env.DB, env.ARTIFACTS, Date.now() + 60_000);
    expect(await list()).toEqual([]);
    expect([await isStored(await digestOf(bytes)), await isStored(await digestOf(others))]).toEqual([false, false]);
  });

  it("may be empty", async () => {
    expect((await put({ content: new Uint8Array() })).json).toMatchObject({ sizeBytes: 0 });
    const read = await fetchEdge("GET", `/v1/jobs/${lease.jobId}/artifacts/checkpoint`);
    expect([read.status, (await read.arrayBuffer()).byteLength]).toEqual([200, 0]);
  });

  it("is answered in parts and not twice", async () => {
    await put();
    const path = `/v1/jobs/${lease.jobId}/artifacts/checkpoint`;
    const get = async (headers: Record<string, string>) => {
      const response = await fetchEdge("GET", path, { headers });
      const text = new TextDecoder().decode(await response.arrayBuffer());
      return [response.status, text, response.headers.get("content-range")];
    };
    const etag = `"${await digestOf(bytes)}"`;
    expect(await get({ range: "bytes=4-8" })).toEqual([206, "first", "bytes 4-8/23"]);
    expect(await get({ range: "bytes=-3" })).toEqual([206, "job", "bytes 20-22/23"]);
    expect(await get({ range: "bytes=20-" })).toEqual([206, "job", "bytes 20-22/23"]);
    expect(await get({ range: "bytes=20-99" })).toEqual([206, "job", "bytes 20-22/23"]);
    const [status, problem, range] = await get({ range: "bytes=23-" });
    expect([status, range]).toEqual([416, "bytes */23"]);
    expect(JSON.parse(String(problem))).toMatchObject({
      code: "range-not-satisfiable",
      errors: [{ pointer: "header/range" }],
    });
    expect((await get({ range: "bytes=9-4" }))[0]).toBe(200);
    expect((await get({ range: "bytes=0-1,4-5" }))[0]).toBe(200);
    expect((await get({ range: "bytes=4-8", "if-range": '"other"' }))[0]).toBe(200);
    expect((await get({ range: "bytes=4-8", "if-range": etag }))[0]).toBe(206);
    expect(await get({ "if-none-match": etag })).toEqual([304, "", null]);
  });

  it("is refused where its lease is not the runner's", async () => {
    const { credential } = await newOnlineRunner();
    expect(problemOf(await put({ key: credential })).code).toBe("not-found");
    expect(problemOf(await put({ query: { epoch: String(lease.epoch + 1) } })).code).toBe("not-found");
    expect(problemOf(await put({ path: `/v1/link/jobs/${missingId.job}/artifacts/policy` })).code).toBe("not-found");
    expect(problemOf(await put({ key: ADMIN })).code).toBe("unauthorized");
    await expireLeases();
    expect(problemOf(await put()).code).toBe("not-found");
    expect(await list()).toEqual([]);
  });

  it("is refused where the request is wrong, and nothing is kept", async () => {
    expect(pointersOf(await put({ query: { digest: "md5:0" } }))).toEqual(["query/digest"]);
    expect(pointersOf(await put({ query: { epoch: "0" } }))).toEqual(["query/epoch"]);
    expect(pointersOf(await put({ path: `/v1/link/jobs/${lease.jobId}/artifacts/novel` }))).toEqual(["path/name"]);
    expect(pointersOf(await put({ path: "/v1/link/jobs/job_x/artifacts/policy" }))).toEqual(["path/id"]);
    expect(pointersOf(await put({ query: { digest: await digestOf(others) } }))).toEqual(["#"]);
    expect(pointersOf(await put({ headers: { "content-type": "text/html" } }))).toEqual(["header/content-type"]);
    expect(pointersOf(await put({ headers: { "content-length": "long" } }))).toEqual(["header/content-length"]);
    const tooLarge = await put({ headers: { "content-length": String(LIMITS.jobArtifactBytes + 1) } });
    expect(problemOf(tooLarge).code).toBe("payload-too-large");
    expect(await list()).toEqual([]);
  });

  it("is not found where there is none", async () => {
    expect((await fetchEdge("GET", `/v1/jobs/${lease.jobId}/artifacts/policy`)).status).toBe(404);
    const own = `/v1/link/jobs/${lease.jobId}/artifacts/policy?epoch=${lease.epoch}`;
    expect(problemOf(await callEdge("GET", own, { key: runner.credential })).code).toBe("not-found");
  });
});
