import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { detectLanded } from "../../../src/edge/history/detect/detect-landed.ts";
import type { Endpoint } from "../../../src/protocol/endpoint.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { fetchEdge } from "../stack/edge-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { capabilities } from "../stack/samples.ts";
import { type TenantCase, tenantCases, type TenantRequest } from "./tenant-cases.ts";
import { makeThings, NOTHING, type Things, TRIAD } from "./tenant-things.ts";
import { Tenant } from "./tenant.ts";
import { balance } from "../stack/training-samples.ts";

/**
 * Every endpoint of the table with a key of another project: the requested objects exist, and are the owner's. Each has
 * its case in tenant-cases.ts.
 */

/** A word in all names of the owner, and nowhere else. */
const WORD = "walnut";
const ID = /\b(?!fpr)[a-z]{3}_[0-9a-z]{26}\b/g;

let owner: Tenant;
let stranger: Tenant;
let things: Things;
/** Every row and file as the owner left it. */
let rows: Set<string>;
/** Every id among these. */
let ids: Set<string>;

beforeAll(async () => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response("ok")));
  const before = idsIn(await readStored());
  const able = { ...capabilities, environments: [balance] };
  owner = await Tenant.open(WORD, able);
  things = await makeThings(owner, WORD);
  // The searches behind what was measured may last, and note in each series that it was searched.
  await vi.waitFor(async () => expect(await detectLanded(env, Date.now(), 20)).toEqual({ isDone: true }), BOUND);
  rows = new Set(await readStored());
  ids = idsIn(rows)
    .difference(before)
    .union(new Set([things.job, things.waiting, things.training]));
  stranger = await Tenant.open("stranger", able);
}, 120_000);
afterAll(() => {
  vi.unstubAllGlobals();
});

function idsIn(texts: Iterable<string>): Set<string> {
  return new Set([...texts].flatMap((text) => text.match(ID) ?? []));
}

/** Tables without rows of tenants, and columns of the last use and the last search for changes. */
const HOUSE_TABLES = /^(_cf_|d1_|sqlite_|history_state|serving_state|project_counts|rollups|audit_entries)/;
const UPKEEP = ["last_seen_at_ms", "last_used_at_ms", "detected_at_ms", "detected_seq"];

/** All rows and the names of all files, as texts. */
async function readStored(): Promise<string[]> {
  const { results } = await env.DB.prepare("select name from sqlite_master where type = 'table'").all<{
    name: string;
  }>();
  const tables = results.map(({ name }) => name).filter((name) => !HOUSE_TABLES.test(name));
  const read = await env.DB.batch<Record<string, unknown>>(
    tables.map((table) => env.DB.prepare(`select * from ${table}`)),
  );
  const stored = read.flatMap(({ results: found }, index) =>
    found.map(
      (row) => `${tables[index]} ${JSON.stringify({ ...row, ...Object.fromEntries(UPKEEP.map((name) => [name, 0])) })}`,
    ),
  );
  const { objects } = await env.ARTIFACTS.list();
  return [...stored, ...objects.map(({ key, etag }) => `${key} ${etag}`)];
}

interface Told {
  readonly status: number;
  readonly text: string;
}

async function ask(endpoint: Endpoint, request: TenantRequest, key: string): Promise<Told> {
  const { params = {}, query = {}, body, headers = {} } = request;
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams(query).toString();
  const sent = body === undefined ? { key, headers } : { key, headers, body };
  const response = await fetchEdge(endpoint.method, search === "" ? path : `${path}?${search}`, sent);
  const { status } = response;
  if (response.webSocket !== null) {
    response.webSocket.accept();
    response.webSocket.close();
    return { status, text: "" };
  }
  // A stream ends once its reader is gone.
  if (response.headers.get("content-type")?.includes("text/event-stream") === true) {
    await response.body?.cancel();
    return { status, text: "" };
  }
  return { status, text: await response.text() };
}

/** The reply without the names of these objects in the request, or of the owner's. */
function withoutNamed({ status, text }: Told, request: TenantRequest, named: Things): Told {
  const { body } = request;
  const sent = JSON.stringify({ ...request, body: body instanceof Uint8Array ? new TextDecoder().decode(body) : body });
  const said = Object.entries(named).filter(([, name]) => sent.includes(name));
  const words = (sent.match(/walnut[\w-]*/g) ?? []).map((word) => ["said", word] as const);
  let rest = text.replaceAll("%3A", ":");
  for (const [kind, name] of [...said, ...words]) rest = rest.replaceAll(name, `<${kind}>`);
  return { status, text: rest };
}

/** Ids and names of the owner's in a text. */
function marksIn({ text }: Told): string[] {
  return [...(text.match(ID) ?? []).filter((id) => ids.has(id)), ...(text.match(/\S{0,20}walnut\S{0,20}/g) ?? [])];
}

interface Walked {
  readonly title: string;
  readonly endpoint: Endpoint;
  readonly sample: TenantCase;
}

const walked = Object.entries<Endpoint>(endpoints as never).flatMap(([name, endpoint]): Walked[] => {
  const samples = [(tenantCases as Record<string, TenantCase | readonly TenantCase[]>)[name] ?? []].flat();
  return samples.map((sample, index) => ({ title: index === 0 ? name : `${name}, ${index + 1}`, endpoint, sample }));
});

/** Deletions go last, and changes after reading. */
const ORDER = ["get", "put", "post", "delete"];
const inOrder = walked.toSorted((a, b) => ORDER.indexOf(a.endpoint.method) - ORDER.indexOf(b.endpoint.method));

/** A stream's events until this text. */
async function hearUntil(response: Response, text: string): Promise<string> {
  let heard = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    heard += chunk;
    if (heard.includes(text)) return heard;
  }
  throw new Error(`the stream ended without ${text}`);
}

const keyOf = ({ key, runner }: Tenant, sample: TenantCase) =>
  sample.kind === "hidden" && sample.as === "runner" ? runner.credential : key;

it("has a case for every endpoint of the table, and no other", () => {
  expect(Object.keys(tenantCases).toSorted()).toEqual(Object.keys(endpoints).toSorted());
});

const listOf = (...kinds: readonly TenantCase["kind"][]) => inOrder.filter(({ sample }) => kinds.includes(sample.kind));

async function expectUntouched(): Promise<void> {
  const left = new Set(await readStored());
  expect([...rows].filter((row) => !left.has(row))).toEqual([]);
  expect((await owner.get(`/v1/jobs/${things.waiting}`)).state).toBe("queued");
}

describe("a stranger", () => {
  it.each(listOf("hidden", "operators", "open"))(
    "gets nothing of another's by $title",
    async ({ endpoint, sample }) => {
      const request = sample.ask(things);
      const told = withoutNamed(await ask(endpoint, request, keyOf(stranger, sample)), request, things);
      expect(marksIn(told)).toEqual([]);
      if (sample.kind === "operators") expect([told.status, JSON.parse(told.text).code]).toEqual([403, "forbidden"]);
      if (sample.kind === "hidden") {
        const missing = sample.ask(NOTHING);
        expect(told).toEqual(withoutNamed(await ask(endpoint, missing, keyOf(stranger, sample)), missing, NOTHING));
      }
      if (endpoint.method !== "get") await expectUntouched();
    },
  );

  it.each(listOf("own"))("makes its own of the same name by $title", async ({ endpoint, sample }) => {
    const request = sample.ask(things);
    const told = withoutNamed(await ask(endpoint, request, stranger.key), request, things);
    expect(told.status, told.text).toBeLessThan(300);
    expect(marksIn(told)).toEqual([]);
    await expectUntouched();
  });

  it.each(listOf("hidden").filter(({ endpoint }) => endpoint.method === "delete"))(
    "deletes what is its own alone by $title",
    async ({ endpoint, sample }) => {
      await ask(endpoint, sample.ask(things), keyOf(stranger, sample));
      await expectUntouched();
    },
  );

  it("hears nothing of another's work", async () => {
    const response = await fetchEdge("GET", "/v1/events", { key: stranger.key });
    const { id: theirs } = await owner.post("/v1/jobs", { ...TRIAD, runnerId: things.offline });
    await owner.post(`/v1/jobs/${theirs}/cancel`);
    const { id: mine } = await stranger.post("/v1/jobs", TRIAD);
    const heard = await hearUntil(response, mine);
    expect(heard).not.toContain(theirs);
  });
});

describe("the owner", () => {
  const seen = inOrder.filter(({ sample }) => sample.kind === "hidden" && sample.blind === undefined);

  it.each(seen)("gets more by $title", async ({ endpoint, sample }) => {
    const request = sample.ask(things);
    const missing = sample.ask(NOTHING);
    const told = withoutNamed(await ask(endpoint, request, keyOf(owner, sample)), request, things);
    const nothing = withoutNamed(await ask(endpoint, missing, keyOf(stranger, sample)), missing, NOTHING);
    expect(told).not.toEqual(nothing);
    // A list may differ by itself: the owner's includes its objects.
    if (Object.keys(request).length === 0) expect(marksIn(told)).not.toEqual([]);
  });
});
