import type { Context, Hono } from "hono";
import { z } from "zod";
import type { Endpoint } from "../../protocol/endpoint.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { MAIN_PROJECT } from "../../protocol/service/project.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { checkInput, invalidRequest, unsupportedMediaType } from "../../protocol/wire/parse-input.ts";
import { type FieldError, toPointerPart, toProblem } from "../../protocol/wire/problem.ts";
import type { SpanScope } from "../../telemetry/span.ts";
import { type Env, type ProjectEnv, scopeEnv } from "../config.ts";
import { openProject } from "../store/database.ts";
import { addAuditEntry } from "../store/project-store.ts";
import { authorise, callerOf, holderOf, knownPrincipal, type Principal } from "./auth.ts";
import { checkRate, type KeyRate, spendQueueRate, spendRate } from "./key-rate.ts";
import type { RequestKind } from "../thread-shares.ts";
import { threadShares } from "../turns.ts";
import { heavyPlaces } from "../heavy-places.ts";
import { INFERENCE_WAIT_MS, withBodyRoom } from "./body-room.ts";
import { isOip, nameStorageFull } from "./problems.ts";
import { mediaTypeOf, parseJson, readBody } from "./read-body.ts";
import { logFailure } from "../log-failure.ts";

export interface AppEnv {
  Bindings: Env;
  Variables: {
    /** When the Worker's code began. */
    arrivedAtMs: number;
    /** For how long the request may have waited in its socket before that. */
    unseenMs: number;
    principalId: string | null;
    /** State of the rate of the key or credential; absent without one. */
    keyRate?: KeyRate;
    /** The endpoint's path; null until one matches. */
    route: string | null;
    /** Says that the request needs the thread no more; absent before its turn. */
    leaveThread?: () => void;
    /** The request's span, as the parent of further spans; null without tracing. */
    scope: SpanScope | null;
  };
}

/** Input of a handler, checked by the endpoint's schemas. */
export interface HandlerInput<Params, Query, Headers, Body> {
  readonly c: Context<AppEnv>;
  /** With the caller's project; on a public route, the operator's. */
  readonly env: ProjectEnv;
  readonly principal: Principal | null;
  readonly params: Params;
  readonly query: Query;
  readonly headers: Headers;
  readonly body: Body;
  /** Of an inference: earlier by its unseen wait. */
  readonly arrivedAtMs: number;
  readonly unseenMs: number;
  /** Keeps work alive behind the reply. */
  readonly waitUntil: (work: Promise<unknown>) => void;
  /** The request's span, as the parent of further spans; null without tracing. */
  readonly scope: SpanScope | null;
  /** Aborted once the caller has closed the connection. */
  readonly gone: AbortSignal;
  /** Says that the request needs the thread no more, as when it waits for a runner. */
  readonly leaveThread: () => void;
}

type Handler<Params, Query, Headers, Body, Reply> = (
  input: HandlerInput<Params, Query, Headers, Body>,
) => Promise<Reply | Response>;

/**
 * Serves an endpoint of the table: checks access first, then size and syntax, then the schemas. Reports all faults of
 * the input at once, each with its pointer.
 */
export function bind<Params, Query, Headers, Body, Reply>(
  app: Hono<AppEnv>,
  endpoint: Endpoint<Params, Query, Headers, Body, Reply>,
  handler: Handler<Params, Query, Headers, Body, Reply>,
): void {
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ":$1");
  const isUrgent = endpoint.access === "infer";
  // A runner's load is admitted as callers' requests are.
  const isInference = isUrgent || endpoint.path === endpoints.linkInfer.path;
  const answer = async (c: Context<AppEnv>): Promise<Response> => {
    c.set("route", endpoint.path);
    const waitUntil = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
    const principal = await authorise(c.env, callerOf(c.req.raw), endpoint, waitUntil);
    if (principal !== null) {
      c.set("keyRate", spendRate(c.env, principal, waitUntil, endpoint.isFrequent));
      if (endpoint.asksQueue === true) spendQueueRate(c.env, principal, waitUntil);
    }
    c.set("principalId", principal?.id ?? null);
    const errors: FieldError[] = [];
    const read = <Value>(schema: z.ZodType<Value> | undefined, value: () => unknown, prefix: string): Value => {
      if (schema === undefined) return undefined as Value;
      const checked = checkInput(schema, value(), prefix);
      if (checked.ok) return checked.value;
      errors.push(...checked.errors);
      return undefined as Value;
    };
    const params = read(endpoint.params, () => c.req.param(), "path");
    // Clients of the Open Inference Protocol may send parameters of other servers, and monitors some of their own.
    const query =
      isOip(endpoint.path) || MONITORED.has(endpoint.path)
        ? (undefined as Query)
        : read(endpoint.query ?? (NO_QUERY as z.ZodType<Query>), () => readQuery(c.req.url, errors), "query");
    const headers = read(endpoint.headers, () => c.req.header(), "header");
    const env = scopeEnv(c.env, principal?.project ?? MAIN_PROJECT);
    const unseenMs = isInference ? c.get("unseenMs") : 0;
    const about = {
      arrivedAtMs: c.get("arrivedAtMs") - unseenMs,
      unseenMs,
      waitUntil,
      scope: c.get("scope"),
      gone: c.req.raw.signal,
      leaveThread: () => c.get("leaveThread")?.(),
    };
    const answerInRoom = async () => {
      const isJson = endpoint.body !== undefined && endpoint.rawBody === undefined;
      const json = isJson ? await readJson(c.req.raw, endpoint.bodyBytes ?? LIMITS.jsonBodyBytes) : undefined;
      const body = endpoint.rawBody === undefined ? read(endpoint.body, () => json, "#") : (undefined as Body);
      if (errors.length > 0) throw invalidRequest(errors);
      const work = () => handler({ c, env, principal, params, query, headers, body, ...about });
      const handle =
        endpoint.isHeavy === true ? () => heavyPlaces.doIn({ project: env.project, ...about }, work) : work;
      // The pages of an import belong to the act that began it.
      const isAct = endpoint.access === "admin" && endpoint.method !== "get" && endpoint.rawBody === undefined;
      return isAct ? audited(c, env, endpoint, handle) : handle();
    };
    const bodyCall = {
      project: principal?.project ?? holderOf(callerOf(c.req.raw)),
      ...(isInference ? { waitMs: INFERENCE_WAIT_MS } : {}),
      ...about,
    };
    const reply = await withBodyRoom(c.req.raw, bodyCall, answerInRoom);
    return reply instanceof Response ? reply : c.json(reply as never, endpoint.reply.status as 200);
  };
  app.on(endpoint.method.toUpperCase(), path, async (c) => {
    const end = isUrgent ? threadShares.beginUrgent(c.req.raw) : undefined;
    return inTurn(c, isInference ? "inference" : "other", () => answer(c)).finally(() => end?.());
  });
}

/** Does a request's work when its turn has come on the isolate's thread (ThreadShares). */
export async function inTurn(c: Context<AppEnv>, kind: RequestKind, work: () => Promise<Response>): Promise<Response> {
  const waitUntil = (kept: Promise<unknown>) => c.executionCtx.waitUntil(kept);
  const caller = callerOf(c.req.raw);
  // What is refused by its rate takes no place of its project's other keys.
  const known = knownPrincipal(caller.authorization);
  if (known !== undefined) checkRate(c.env, known);
  const leave = await threadShares.begin({
    holder: holderOf(caller),
    kind,
    gone: c.req.raw.signal,
    waitUntil,
  });
  c.set("leaveThread", leave);
  return work().finally(leave);
}

const MONITORED: ReadonlySet<string> = new Set(["/v1/health", "/metrics"]);
const NO_QUERY: z.ZodType = z.strictObject({});

/** Parameters of a query. A repeated one is an error, since one of its values would be ignored. */
function readQuery(url: string, errors: FieldError[]): Record<string, string> {
  const start = url.indexOf("?");
  if (start < 0) return {};
  const found = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(url.slice(start))) {
    if (found.has(name)) errors.push({ pointer: `query/${toPointerPart(name)}`, message: "must be given once" });
    found.set(name, value);
  }
  return Object.fromEntries(found);
}

async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const mediaType = mediaTypeOf(request);
  const bytes = await readBody(request, maxBytes);
  if (mediaType !== "application/json") throw unsupportedMediaType(mediaType, ["application/json"]);
  return parseJson(bytes);
}

/** Runs an administrator's act and writes it to the audit log with its author and outcome. */
export async function audited<Reply>(
  c: Context<AppEnv>,
  env: ProjectEnv,
  { method, path, reply }: Pick<Endpoint, "method" | "path" | "reply">,
  act: () => Promise<Reply>,
): Promise<Reply> {
  const note = async (status: number) => {
    const entry = { keyId: c.get("principalId"), action: `${method.toUpperCase()} ${path}`, path: c.req.path, status };
    try {
      await addAuditEntry(openProject(env), entry);
    } catch (error) {
      // The act is done and may have made a secret that is shown once: log the entry instead of failing the request.
      logFailure("audit-entry-lost", error, { ...entry });
    }
  };
  // Handlers may also throw at once.
  const [outcome] = await Promise.allSettled([(async () => act())()]);
  if (outcome.status === "rejected") {
    await note(toProblem(nameStorageFull(outcome.reason)).status);
    throw outcome.reason;
  }
  const done = outcome.value;
  await note(done instanceof Response ? done.status : reply.status);
  return done;
}
