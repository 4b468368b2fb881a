import { beforeAll, describe, expect, it } from "vitest";
import type { Endpoint } from "../../../src/protocol/endpoint.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { FRAME_MEDIA_TYPE } from "../../../src/protocol/inference/inference.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { oipEndpoints } from "../../../src/protocol/inference/oip-endpoints.ts";
import {
  callEdge,
  countStored,
  createKey,
  fetchEdge,
  pointersOf,
  problemOf,
  type Reply,
  type Sent,
} from "../stack/edge-client.ts";
import { listWalk, type WalkCase, walkCases } from "./walk-cases.ts";

/**
 * Every endpoint of the table with everything that it must refuse. The requests follow from the table; only a sample of
 * a valid request is written for each (walk-cases.ts).
 */

const TEN_MEGABYTES = 10_000_000;
const keys = new Map<string, string>();

beforeAll(async () => {
  for (const scope of ["infer", "submit", "read"] as const) keys.set(scope, (await createKey([scope])).secret);
});

function refused(reply: Reply, status: number | readonly number[], pointer?: string): void {
  expect([status].flat()).toContain(reply.status);
  const problem = problemOf(reply);
  expect(problem.status).toBe(reply.status);
  expect(problem.instance).toMatch(/^\//);
  if (pointer !== undefined) expect(problem.errors?.map((error) => error.pointer)).toContain(pointer);
}

/** Pointers into the body may name a field or a part of it. */
function refusedField(reply: Reply, field: string): void {
  refused(reply, [400, 422]);
  const found = pointersOf(reply);
  expect(
    found.some((pointer) => pointer === `#/${field}` || pointer.startsWith(`#/${field}/`)),
    `${found.join()} names ${field}`,
  ).toBe(true);
}

function send(
  endpoint: Endpoint,
  { path, query, body, mediaType }: WalkCase,
  changes: Sent & { path?: string; query?: Record<string, string> } = {},
): Promise<Reply> {
  const search = new URLSearchParams(changes.query ?? query ?? {}).toString();
  const content = "body" in changes ? changes.body : body;
  return callEdge(endpoint.method, `${changes.path ?? path}${search === "" ? "" : `?${search}`}`, {
    ...changes,
    ...(content === undefined || endpoint.method === "get" ? {} : { body: content }),
    headers: { ...(mediaType === undefined ? {} : { "content-type": mediaType }), ...changes.headers },
  });
}

it("has a case for every endpoint of the table, and no other", () => {
  const walked = Object.keys(endpoints).filter((name) => !(name in oipEndpoints));
  expect(Object.keys(walkCases).toSorted()).toEqual(walked.toSorted());
});

describe.each(listWalk())("$name", ({ endpoint, sample }) => {
  it("writes nothing and refuses all of this", { timeout: 60_000 }, async () => {
    const before = await countStored();
    await walkAccess(endpoint, sample);
    await walkParams(endpoint, sample);
    await walkQuery(endpoint, sample);
    await walkHeaders(endpoint, sample);
    await walkBody(endpoint, sample);
    if (sample.unknown !== undefined) refused(await send(endpoint, sample, { body: sample.body }), sample.unknown);
    expect(await countStored()).toEqual(before);
  });
});

async function walkAccess(endpoint: Endpoint, sample: WalkCase): Promise<void> {
  if (endpoint.access === "public") return;
  const at = "header/authorization";
  refused(await send(endpoint, sample, { key: null }), 401, at);
  for (const authorization of ["Bearer mk_wrong", "Bearer", "Basic YTpi", `Bearer ${"x".repeat(300)}`]) {
    refused(await send(endpoint, sample, { key: null, headers: { authorization } }), 401, at);
  }
  for (const [scope, key] of keys) {
    if (endpoint.access === "runner") refused(await send(endpoint, sample, { key }), 401, at);
    else if (scope !== endpoint.access) refused(await send(endpoint, sample, { key }), 403, at);
  }
}

async function walkParams(endpoint: Endpoint, sample: WalkCase): Promise<void> {
  const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map((match) => String(match[1]));
  // Runner routes are closed to keys, so their parameters are walked in artifacts.test.ts.
  if (endpoint.access === "runner") return;
  for (const name of names) {
    for (const wrong of ["!", "x".repeat(200), "%E0%A4%A", "..%2f..", "%00"]) {
      const path = endpoint.path.replace(`{${name}}`, wrong);
      refused(await send(endpoint, sample, { path }), [400, 404]);
    }
    const path = endpoint.path.replace(`{${name}}`, "x".repeat(200));
    refused(await send(endpoint, sample, { path }), 400, `path/${name}`);
  }
}

/** A value that no field of this name takes. */
const WRONG_QUERY: Record<string, string> = {
  key: "x".repeat(1_025),
  digest: "md5:0",
  contentType: "x".repeat(129),
  limit: "many",
  budgetMs: "soon",
  action: "dance",
  seed: "-1",
  runnerId: "rnr_x",
  placementId: "plc_x",
  network: "brain",
  environment: "not a name",
  job: "job_x",
  entrant: "-1",
  member: "nobody",
  fromEpisode: "soon",
  toEpisode: "-1",
  cursor: "x".repeat(600),
  submittedBy: "x".repeat(65),
  state: "asleep",
  kind: "holiday",
  subject: "x".repeat(300),
  subjectKind: "animal",
  metric: "x".repeat(300),
  series: "ser_x",
  from: "yesterday",
  to: "2026-13-01T00:00:00Z",
  step: "fortnight",
  percentiles: "1.2.3",
  groupBy: "device,colour",
  over: "not a name",
  rows: "1",
  format: "xlsx",
  name: "not a name",
  shape: "n",
  shapes: "{",
  values: "[1]",
  device: "fpr_x",
  clock: "sundial",
  kernel: "not a name",
  fidelity: "2",
  model: "x".repeat(300),
  placement: "plc_x",
  confidence: "2",
  minFidelity: "2",
  refuseWithinMs: "-1",
  priority: "10",
  onMiss: "wait",
  backend: "abacus".repeat(20),
  variant: "x".repeat(65),
  batch: "0",
  unit: "x".repeat(17),
  label: "x".repeat(65),
  fingerprint: "fpr_x",
  software: "maybe",
  configuration: "n",
  sketches: "maybe",
  a: "branch:main",
  b: "label:main;label:main",
  statistic: "mode",
  minimumEffect: "0.001",
  run: "x".repeat(129),
  at: "1999-12-31T23:59:59Z",
  revision: "x".repeat(129),
  cpu: "x".repeat(257),
  adapter: "x".repeat(257),
  driver: "x".repeat(257),
  direction: "sideways",
  runner: "rnr_x",
  runs: "1",
  change: "little",
  profile: "not a name",
  theme: "sepia",
  width: "20",
  scenario: "-1",
  memoryBytes: "0",
  latencyMs: "0",
  version: "0",
  labels: Array.from({ length: LIMITS.labelCount + 1 }, (_, i) => `label${i}=x`).join(","),
};

async function walkQuery(endpoint: Endpoint, sample: WalkCase): Promise<void> {
  // Runner routes are closed to keys, so their queries are walked in job-artifacts.test.ts.
  if (endpoint.access === "runner") return;
  if (["/v1/health", "/metrics"].includes(sample.path)) {
    const { status, body } = await fetchEdge("GET", `${sample.path}?surprise=1`);
    await body?.cancel();
    expect(status, "monitors add parameters of their own").toBe(200);
    return;
  }
  const own = Object.entries(sample.query ?? {});
  const [repeated, value] = own[0] ?? ["surprise", "1"];
  const twice = new URLSearchParams([...own, [repeated, value], [repeated, value]]).toString();
  refused(await send(endpoint, sample, { query: { ...sample.query, surprise: "1" } }), 400, "query/surprise");
  const reply = await send(endpoint, sample, { path: `${sample.path}?${twice}`, query: {} });
  refused(reply, 400, `query/${repeated}`);
  expect(problemOf(reply).detail).toContain("must be given once");
  if (endpoint.query === undefined) return;
  for (const name of Object.keys(shapeOf(endpoint.query))) {
    const wrong = WRONG_QUERY[name];
    if (wrong === undefined) throw new Error(`the walk has no wrong value for query/${name}`);
    refused(await send(endpoint, sample, { query: { ...sample.query, [name]: wrong } }), 400, `query/${name}`);
  }
  for (const name of Object.keys(sample.query ?? {})) {
    const { [name]: _, ...rest } = sample.query ?? {};
    refused(await send(endpoint, sample, { query: rest }), 400, `query/${name}`);
  }
  if ("cursor" in shapeOf(endpoint.query)) {
    for (const cursor of ["!", "e30", btoa("[]"), btoa('["a","b","c"]'), btoa("[{}]"), btoa("[null]")]) {
      refused(await send(endpoint, sample, { query: { ...sample.query, cursor } }), 400, "query/cursor");
    }
  }
}

const WRONG_HEADERS: Record<string, string> = { "if-match": "x".repeat(65), "idempotency-key": "with spaces" };

async function walkHeaders(endpoint: Endpoint, sample: WalkCase): Promise<void> {
  if (endpoint.headers === undefined) return;
  for (const name of Object.keys(shapeOf(endpoint.headers))) {
    const wrong = WRONG_HEADERS[name];
    if (wrong === undefined) throw new Error(`the walk has no wrong value for header/${name}`);
    refused(await send(endpoint, sample, { headers: { [name]: wrong } }), 400, `header/${name}`);
  }
}

async function walkBody(endpoint: Endpoint, sample: WalkCase): Promise<void> {
  const large = new Uint8Array(TEN_MEGABYTES).fill(32);
  const { body, rawBody, access } = endpoint;
  // Keys do not get as far as the body; edge-wasm.test.ts sends wrong ones as a runner.
  if (access === "runner") return;
  // Checks of states depend on their pool: agent-pools.test.ts sends states to one.
  if (endpoint.path === endpoints.writeAgents.path) return;
  // A part belongs to an upload that has begun: uploads.test.ts sends wrong ones to one.
  if (endpoint.path === endpoints.putUploadPart.path) return;
  if (body === undefined && rawBody === undefined) {
    // An unexpected body does not bypass the checks either.
    if (endpoint.method !== "get") refused(await send(endpoint, sample, { body: large }), 404);
    return;
  }
  const [mediaType = "application/json"] = rawBody?.mediaTypes ?? [];
  const typed = { "content-type": mediaType };
  const tooLarge = TEN_MEGABYTES > (rawBody?.maxBytes ?? LIMITS.jsonBodyBytes) ? 413 : [400, 422];
  const refusedBody = (reply: Reply, statuses: number | readonly number[], pointer?: string) => {
    if (sample.reports === true) expect(reply.json).toMatchObject({ ok: false, problems: [{ pointer }] });
    else refused(reply, statuses, pointer);
  };
  refusedBody(await send(endpoint, sample, { body: large, headers: typed }), tooLarge, "#");
  refused(
    await send(endpoint, sample, { body: "hello", headers: { "content-type": "text/plain" } }),
    415,
    "header/content-type",
  );
  refused(
    await send(endpoint, sample, { body: new Uint8Array(4), headers: { "content-type": "" } }),
    415,
    "header/content-type",
  );
  const packed = await send(endpoint, sample, { headers: { ...typed, "content-encoding": "br" } });
  refused(packed, 415, "header/content-encoding");
  expect(packed.headers.get("accept-encoding")).toMatch(/^(gzip, deflate, )?identity$/);
  for (const type of rawBody?.mediaTypes ?? ["application/json"]) {
    for (const garbage of ["", "{", "null", "[]", '"text"', "17", new Uint8Array([0xff, 0xfe, 0, 1, 2, 3])]) {
      const pointer = type === FRAME_MEDIA_TYPE || mediaType === type ? "#" : undefined;
      const headers = { "content-type": type };
      refusedBody(await send(endpoint, sample, { body: garbage, headers }), [400, 422], pointer);
    }
  }
  if (body === undefined) return;
  const valid = sample.body as Record<string, unknown>;
  for (const field of Object.keys(valid)) {
    const { [field]: value, ...rest } = valid;
    refusedField(await send(endpoint, sample, { body: { ...valid, [field]: wrongTypeOf(value) } }), field);
    const without = { ...valid, [field]: null };
    if (!body.safeParse(without).success) refusedField(await send(endpoint, sample, { body: without }), field);
    if (!body.safeParse(rest).success) refusedField(await send(endpoint, sample, { body: rest }), field);
    for (const changed of mutateInside(value))
      refusedField(await send(endpoint, sample, { body: { ...valid, [field]: changed } }), field);
  }
  refusedField(await send(endpoint, sample, { body: { ...valid, surprise: 1 } }), "surprise");
  if (Object.keys(valid).length > 1)
    expect(pointersOf(await send(endpoint, sample, { body: { surprise: 1 } })).length).toBeGreaterThan(0);
}

/** The value with each field at any depth given a wrong type, one at a time. */
function mutateInside(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    [wrongTypeOf(inner), ...mutateInside(inner)].map((changed) =>
      Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed },
    ),
  );
}

function wrongTypeOf(value: unknown): unknown {
  return typeof value === "string" ? { not: "text" } : "not this";
}

function shapeOf(schema: Endpoint["query"]): Record<string, unknown> {
  return (schema as unknown as { shape: Record<string, unknown> }).shape;
}
