import { env, exports } from "cloudflare:workers";
import type { ProjectEnv } from "../../../src/edge/config.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import type { Scope } from "../../../src/protocol/service/key.ts";
import { Problem } from "../../../src/protocol/wire/problem.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import { checkDeclared } from "./declared-replies.ts";

export const ORIGIN = "http://edge.test";
/** The bootstrap secret acts as an admin key. */
export const ADMIN = env.BOOTSTRAP_SECRET;
/** Environment of that key's project, for tests that bypass the Worker. */
export const mainEnv: ProjectEnv = { ...env, project: MAIN_PROJECT };

export interface Sent {
  readonly key?: string | null;
  /** Sent as JSON, unless it is bytes, a string or a stream. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** Ends the request as a client that closes its connection. */
  readonly signal?: AbortSignal;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly json: any;
}

/** Sends a request to the Worker, by default as an admin. Throws where the OpenAPI document does not declare the reply. */
export async function fetchEdge(
  method: string,
  path: string,
  { key = ADMIN, body, headers = {}, signal }: Sent = {},
): Promise<Response> {
  const raw =
    body === undefined || typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream;
  const url = new URL(path, ORIGIN).href;
  const response = await exports.default.fetch(url, {
    method: method.toUpperCase(),
    redirect: "manual",
    ...(signal && { signal }),
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(raw ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: raw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
  });
  checkDeclared(method.toUpperCase(), url, response);
  return response;
}

/** The same with the reply read as JSON; an empty one is null. */
export async function callEdge(method: string, path: string, sent: Sent = {}): Promise<Reply> {
  const response = await fetchEdge(method, path, sent);
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text === "" ? null : JSON.parse(text) };
}

/** Reads a reply as a problem; throws where it is none. */
export function problemOf(reply: Reply): Problem {
  if (reply.headers.get("content-type") !== "application/problem+json") {
    throw new Error(`no problem but ${reply.status} ${JSON.stringify(reply.json)}`);
  }
  return Problem.parse(reply.json);
}

export function pointersOf(reply: Reply): string[] {
  return (problemOf(reply).errors ?? []).map(({ pointer }) => pointer);
}

export async function createKey(scopes: Scope[], name = "sample"): Promise<{ id: string; secret: string }> {
  return (await callEdge("POST", "/v1/keys", { body: { name, scopes } })).json;
}

/** Opens a project; `secret` is that of an admin's key there. */
export async function createProject(name: string): Promise<{ project: string; secret: string }> {
  const opened = await callEdge("POST", "/v1/projects", { body: { name } });
  if (opened.status !== 201) throw new Error(`no project but ${opened.status} ${JSON.stringify(opened.json)}`);
  const { json } = await callEdge("POST", "/v1/keys", { body: { name, scopes: ["admin"], project: name } });
  return { project: name, secret: json.secret };
}

export async function createToken(ttlMs?: number, key = ADMIN): Promise<string> {
  const body = ttlMs === undefined ? {} : { ttlMs };
  return (await callEdge("POST", "/v1/runners/tokens", { key, body })).json.token;
}

export interface RegisteredRunner {
  readonly runnerId: string;
  readonly credential: string;
}

/** A runner in the project of the admin's `key`. */
export async function registerRunner(name = "sample", key = ADMIN): Promise<RegisteredRunner> {
  const token = await createToken(undefined, key);
  return (await callEdge("POST", "/v1/runners", { key: null, body: { token, name } })).json;
}

export const missingId = {
  key: createId("key"),
  runner: createId("runner"),
  job: createId("job"),
  run: createId("run"),
  placement: createId("placement"),
  series: createId("series"),
  fingerprint: createId("fingerprint"),
  threshold: createId("threshold"),
  alert: createId("alert"),
  kernel: createId("kernel"),
  tuning: createId("tuning"),
  webhook: createId("webhook"),
  transfer: createId("transfer"),
  environment: createId("environment"),
  archive: createId("archive"),
};

const TABLES = [
  "projects",
  "keys",
  "registration_tokens",
  "runners",
  "profiles",
  "requirement_sets",
  "models",
  "model_versions",
  "placements",
  "tunings",
  "runs",
  "reports",
  "series",
  "points",
  "thresholds",
  "alerts",
  "changes",
  "kernels",
  "standings",
  "webhooks",
  "webhook_deliveries",
  "transfers",
  "baselines",
  "populations",
  "archives",
  "job_artifacts",
];

/** Rows of every table and objects in the bucket: they show whether anything was written. */
export async function countStored(): Promise<Record<string, number>> {
  const counts = await env.DB.batch<{ n: number }>(
    TABLES.map((table) => env.DB.prepare(`select count(*) as n from ${table}`)),
  );
  const { objects } = await env.ARTIFACTS.list();
  const jobs = await callEdge("GET", "/v1/jobs?limit=200");
  return {
    ...Object.fromEntries(TABLES.map((table, index) => [table, counts[index]?.results[0]?.n ?? Number.NaN])),
    artifacts: objects.length,
    jobs: jobs.json.items.length,
  };
}

/** Comparison for `toSorted` of statuses and versions. */
export function byNumber(a: number, b: number): number {
  return a - b;
}
