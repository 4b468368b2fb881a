import { env } from "cloudflare:workers";
import { DrizzleQueryError } from "drizzle-orm/errors";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createApp } from "../../../src/edge/app.ts";
import { authorise, type Principal } from "../../../src/edge/http/auth.ts";
import { audited } from "../../../src/edge/http/bind.ts";
import { RateLimited, rateHeaders, spendQueueRate, spendRate } from "../../../src/edge/http/key-rate.ts";
import { JobQueue } from "../../../src/edge/queue/job-queue.ts";
import { nameFailure, stackOf } from "../../../src/telemetry/name-failure.ts";
import { isStorageFull, openDatabase } from "../../../src/edge/store/database.ts";
import { findKeyByHash } from "../../../src/edge/store/key-store.ts";
import { createSecret, hashSecret } from "../../../src/edge/store/secret.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { ProblemError } from "../../../src/protocol/wire/problem.ts";
import { callEdge, createKey, mainEnv, pointersOf, problemOf, registerRunner } from "../stack/edge-client.ts";
import { queueStub } from "../stack/queue-client.ts";
import { stopCalmClock, stopClock } from "../stack/stopped-clock.ts";

/** One at once, and the next in a hundred seconds. */
const SLOWEST = 0.01;

const tenant = (project: string): Extract<Principal, { kind: "key" }> => {
  return { kind: "key", id: createId("key"), project, scopes: ["read"], requestsPerSecond: null };
};

afterEach(() => vi.restoreAllMocks());

describe("the rate of a key", () => {
  it("stands in every reply, and ends in a refusal that says when to come again", async () => {
    const created = await callEdge("POST", "/v1/keys", {
      body: { name: "slow", scopes: ["read", "infer"], requestsPerSecond: 0.02 },
    });
    expect(created.json).toMatchObject({ requestsPerSecond: 0.02, lastUsedAt: null, oldSecretUntil: null });
    const key = created.json.secret;
    const first = await callEdge("GET", "/v1/runners", { key });
    expect(first.status).toBe(200);
    expect(first.headers.get("ratelimit-policy")).toBe('"key";q=1;w=2');
    expect(first.headers.get("ratelimit")).toMatch(/^"key";r=0;t=50$/);
    const second = await callEdge("GET", "/v1/runners", { key });
    expect(problemOf(second)).toMatchObject({ code: "rate-limited", status: 429 });
    expect(Number(second.headers.get("retry-after"))).toBeGreaterThan(30);
    expect(second.headers.get("ratelimit")).toMatch(/^"key";r=0;t=\d+$/);
    // The Open Inference Protocol has no status for it but that of a busy server.
    expect((await callEdge("GET", "/v2/models/nobody", { key })).status).toBe(503);
  });

  it("is counted for each key apart", async () => {
    const body = { name: "slow", scopes: ["read"], requestsPerSecond: SLOWEST };
    for (let i = 0; i < 2; i++) {
      const { secret } = (await callEdge("POST", "/v1/keys", { body })).json;
      expect((await callEdge("GET", "/v1/runners", { key: secret })).status).toBe(200);
    }
  });

  it("is within bounds", async () => {
    for (const requestsPerSecond of [0, -1, 100_001, "many"]) {
      const body = { name: "odd", scopes: ["read"], requestsPerSecond };
      expect(pointersOf(await callEdge("POST", "/v1/keys", { body }))).toEqual(["#/requestsPerSecond"]);
    }
  });

  const ignore = () => {};
  const catchError = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      return error;
    }
  };

  it("is shared by the keys of a tenant, and not by the operator's", () => {
    const slow = { ...env, PROJECT_REQUESTS_PER_SECOND: String(SLOWEST) };
    spendRate(slow, tenant("crowd"), ignore);
    const refused = catchError(() => spendRate(slow, tenant("crowd"), ignore));
    expect(refused).toMatchObject({ message: expect.stringMatching(/^This project may send/) });
    expect(rateHeaders((refused as RateLimited).told)["ratelimit-policy"]).toBe('"project";q=1;w=2');
    spendRate(slow, tenant("others"), ignore);
    for (let i = 0; i < 3; i++) spendRate(slow, tenant("main"), ignore);
  });

  it("is lower for what a tenant asks of the queue, which is one for all, and is the operator's in nothing", async () => {
    const project = "asker";
    await callEdge("POST", "/v1/projects", { body: { name: project } });
    const body = { name: "asking", scopes: ["read", "submit"], project };
    const { secret: key } = (await callEdge("POST", "/v1/keys", { body })).json;
    expect((await callEdge("GET", "/v1/jobs", { key })).status).toBe(200);
    // Another would be allowed every five milliseconds.
    await stopCalmClock();
    while (catchError(() => spendQueueRate(mainEnv, { project }, ignore)) === undefined);
    for (const [method, path] of [
      ["GET", "/v1/jobs"],
      ["POST", "/v1/jobs"],
      ["GET", "/v1/events"],
      ["GET", "/v1/project"],
    ] as const) {
      const refused = await callEdge(method, path, { key });
      expect(problemOf(refused)).toMatchObject({
        code: "rate-limited",
        status: 429,
        detail: "This project may send 200 requests to the queue of jobs a second, and 400 at once.",
        retryAfterMs: expect.any(Number),
      });
      expect(refused.headers.get("ratelimit-policy")).toBe('"queue";q=400;w=2');
      expect(refused.headers.get("ratelimit")).toMatch(/^"queue";r=0;t=[12]$/);
    }
    expect((await callEdge("GET", "/v1/runners", { key })).status).toBe(200);
    expect((await callEdge("GET", "/v1/jobs")).status).toBe(200);
    for (let sent = 0; sent < 3 * LIMITS.queueRequestsPerSecond; sent++)
      spendQueueRate(mainEnv, tenant("main"), ignore);
  });

  it("closes the queue for a moment to a tenant whom the platform's counter found over it", async () => {
    const counted: Promise<unknown>[] = [];
    const keys: string[] = [];
    const limit = async ({ key }: { key: string }) => ({ success: keys.push(key) === 0 });
    const closing = { ...env, QUEUE_LIMITER: { limit } };
    stopClock();
    spendQueueRate(closing, tenant("far"), (work) => counted.push(work));
    await Promise.all(counted);
    expect(keys).toEqual(["queue far"]);
    expect(() => spendQueueRate(closing, tenant("far"), ignore)).toThrow(RateLimited);
    spendQueueRate(closing, tenant("near"), ignore);
  });

  it("is closed for a moment where the platform's counter says so, without a request that waits for it", async () => {
    const counted: Promise<unknown>[] = [];
    const key = tenant("main");
    const closing = { ...env, KEY_LIMITER: { limit: async () => ({ success: false }) } };
    stopClock();
    spendRate(closing, key, (work) => counted.push(work));
    await Promise.all(counted);
    expect(() => spendRate(closing, key, ignore)).toThrow(RateLimited);
    expect(() => spendRate(closing, { ...key, requestsPerSecond: 50 }, ignore)).toThrow(RateLimited);
    // A higher limit of its own is not the platform's to judge.
    spendRate(closing, { ...key, requestsPerSecond: 100_000 }, ignore);
  });
});

describe("the rate of a runner's credential", () => {
  const callerWith = (secret: string) => ({ address: "192.0.2.7", authorization: `Bearer ${secret}` });
  const ignore = () => {};

  /** The environment with the slowest rates, and a database that counts its queries. */
  function slowEnv() {
    const seen = { asked: 0 };
    const prepare = (query: string) => {
      seen.asked++;
      return env.DB.prepare(query);
    };
    const DB = new Proxy(env.DB, {
      get: (db, name) => (name === "prepare" ? prepare : Reflect.get(db, name).bind(db)),
    });
    return { seen, slow: { ...mainEnv, DB, KEY_REQUESTS_PER_SECOND: String(SLOWEST) } };
  }

  it("is that of keys, and one too many is refused before anything is looked up", async () => {
    const { credential } = await registerRunner();
    const { seen, slow } = slowEnv();
    const ask = async () => {
      const runner = await authorise(slow, callerWith(credential), endpoints.downloadArtifact, ignore);
      return spendRate(slow, runner!, ignore);
    };
    expect(rateHeaders(await ask())["ratelimit-policy"]).toBe('"runner";q=1;w=2');
    const once = seen.asked;
    await expect(ask()).rejects.toMatchObject({ message: expect.stringMatching(/^This runner may send/) });
    expect(seen.asked).toBe(once);
  });

  it("is the project's for load, which counts apart, and joint for a tenant's runners, which its keys cannot keep away", () => {
    const slow = { ...mainEnv, KEY_REQUESTS_PER_SECOND: String(SLOWEST) };
    const runner = (project: string): Principal => ({ kind: "runner", id: createId("runner"), project });
    const own = runner("main");
    spendRate(slow, own, ignore);
    expect(() => spendRate(slow, own, ignore)).toThrow(RateLimited);
    for (let count = 0; count < 100; count++) spendRate(slow, own, ignore, true);
    const shared = { ...mainEnv, PROJECT_REQUESTS_PER_SECOND: String(SLOWEST) };
    spendRate(shared, runner("fleet"), ignore);
    expect(() => spendRate(shared, runner("fleet"), ignore)).toThrow(/^This project may send/);
    spendRate(shared, tenant("callers"), ignore);
    expect(() => spendRate(shared, tenant("callers"), ignore)).toThrow(/^This project may send/);
    expect(() => spendRate(shared, runner("callers"), ignore)).not.toThrow();
    expect(() => spendRate(shared, runner("main"), ignore)).not.toThrow();
  });

  it("stands in every reply", async () => {
    const { credential } = await registerRunner();
    const reply = await callEdge("GET", `/v1/artifacts/sha256:${"0".repeat(64)}`, { key: credential });
    expect(reply.status).toBe(404);
    expect(reply.headers.get("ratelimit-policy")).toBe('"runner";q=2000;w=2');
  });
});

/** The database when it is full: it reads, and every statement that would store more fails. */
function fullDatabase(): D1Database {
  const fail = async () => {
    throw new Error("D1_ERROR: database or disk is full: SQLITE_FULL");
  };
  const failing = { bind: () => failing, run: fail, all: fail, raw: fail, first: fail };
  const prepare = (query: string) => (/^\s*(insert|update)/i.test(query) ? failing : env.DB.prepare(query));
  return new Proxy(env.DB, {
    get: (db, name) => (name === "prepare" ? prepare : Reflect.get(db, name).bind(db)),
  });
}

it("a key that is known serves though the database takes no writes", async () => {
  const { secret } = await createKey(["read"]);
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const hash = await hashSecret(secret);
  expect(await findKeyByHash(openDatabase(fullDatabase()), hash, Date.now())).toMatchObject({ project: "main" });
  const [line] = logged.mock.calls.map(([text]) => String(text));
  logged.mockRestore();
  expect(JSON.parse(line!)).toMatchObject({
    event: "key-use-not-noted",
    error: expect.stringContaining("SQLITE_FULL"),
  });
});

it("what a full database cannot keep is refused as such, and what it has is served", async () => {
  const { secret } = await createKey(["admin"]);
  const logged = vi.spyOn(console, "error").mockImplementation(() => {});
  const app = createApp();
  const work: Promise<unknown>[] = [];
  const context = { waitUntil: (each: Promise<unknown>) => void work.push(each), passThroughOnException: () => {} };
  const ask = (method: string, path: string, body?: object) =>
    app.request(
      path,
      {
        method,
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      },
      { ...env, DB: fullDatabase() },
      context as unknown as ExecutionContext,
    );
  const refused = await ask("POST", "/v1/keys", { name: "more", scopes: ["read"] });
  expect(refused.status).toBe(507);
  expect(refused.headers.get("retry-after")).toBe("60");
  expect(await refused.json()).toMatchObject({ code: "storage-full", instance: "/v1/keys" });
  expect((await ask("GET", "/v1/keys")).status).toBe(200);
  await Promise.allSettled(work);
  logged.mockRestore();
});

it("a failed statement is logged without its parameters", () => {
  const failed = new DrizzleQueryError("update keys set hash = ?", ["a-hash"], new Error("SQLITE_BUSY"));
  // An object's error comes to the Worker as a plain one.
  const arrived = Object.assign(new Error(failed.message), { stack: failed.stack });
  for (const error of [failed, arrived]) expect(`${nameFailure(error)} ${stackOf(error)}`).not.toContain("a-hash");
  expect(nameFailure(failed)).toBe("Error: Failed query: update keys set hash = ?: Error: SQLITE_BUSY");
  expect(stackOf(failed)).toMatch(/^ {4}at /);
  expect(nameFailure(new TypeError("x is not a function"))).toBe("TypeError: x is not a function");
  // What a caller has named is no reason.
  expect(isStorageFull(new DrizzleQueryError("insert", ["SQLITE_FULL"], new Error("SQLITE_BUSY")))).toBe(false);
});

it("a full database is recognised where a statement of an object failed, however it was sent", async () => {
  const full = new Error("D1_ERROR: database or disk is full: SQLITE_FULL");
  const outcomes: unknown[] = [];
  for (const failure of [full, new DrizzleQueryError("insert into jobs", [], full), new Error("SQLITE_BUSY")]) {
    const failing = vi.spyOn(JobQueue.prototype, "counts").mockImplementation(() => {
      throw failure;
    });
    outcomes.push(isStorageFull(await Promise.resolve(queueStub().counts()).catch((error: unknown) => error)));
    failing.mockRestore();
  }
  expect(outcomes).toEqual([true, true, false]);
});

describe("a stranger", () => {
  it("who comes with wrong secrets again and again is not looked up any more, and known keys of that address are served", async () => {
    const headers = { "cf-connecting-ip": "203.0.113.7" };
    const { secret } = await createKey(["read"]);
    expect((await callEdge("GET", "/v1/runners", { key: secret, headers })).status).toBe(200);
    const knock = () => callEdge("GET", "/v1/runners", { key: createSecret("key"), headers });
    const replies = [await knock()];
    while (problemOf(replies.at(-1)!).code !== "rate-limited") replies.push(await knock());
    expect(replies.slice(0, 100).map((reply) => problemOf(reply).code)).toEqual(Array(100).fill("unauthorized"));
    expect(Number(replies.at(-1)!.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await callEdge("GET", "/v1/runners", { key: secret, headers })).status).toBe(200);
    const elsewhere = { "cf-connecting-ip": "203.0.113.8" };
    expect((await callEdge("GET", "/v1/runners", { key: createSecret("key"), headers: elsewhere })).status).toBe(401);
  });

  it("who guesses tokens for runners is stopped, too", async () => {
    const headers = { "cf-connecting-ip": "203.0.113.9" };
    const guess = () =>
      callEdge("POST", "/v1/runners", { key: null, headers, body: { token: createSecret("token"), name: "mine" } });
    const beganAtMs = Date.now();
    for (let i = 0; i < 100; i++) expect((await guess()).status).toBe(401);
    const codes: string[] = [];
    while (!codes.includes("rate-limited")) codes.push(problemOf(await guess()).code);
    // Two more are allowed with each second that this took.
    expect(codes.length).toBeLessThanOrEqual(2 + (2 * (Date.now() - beganAtMs)) / 1_000);
  });

  it("who sends what cannot be a key costs no look-up and is never stopped", async () => {
    const headers = { "cf-connecting-ip": "203.0.113.10" };
    for (let i = 0; i < 150; i++) {
      expect((await callEdge("GET", "/v1/runners", { key: "mk_short", headers })).status).toBe(401);
    }
  });
});

describe("a key's rotation", () => {
  const works = async (key: string) => (await callEdge("GET", "/v1/runners", { key })).status === 200;
  const rotate = (id: string, body: object = {}) => callEdge("POST", `/v1/keys/${id}/rotate`, { body });

  it("accepts both secrets for a while, so that no caller is locked out", async () => {
    const { id, secret } = await createKey(["read"]);
    const { json, status } = await rotate(id);
    expect(status).toBe(200);
    expect(json).toMatchObject({ id, scopes: ["read"] });
    expect(Date.parse(json.oldSecretUntil)).toBeGreaterThan(Date.now() + 80_000_000);
    expect([await works(secret), await works(json.secret)]).toEqual([true, true]);
    // A second rotation ends the first secret at once.
    const again = (await rotate(id)).json;
    expect([await works(secret), await works(json.secret), await works(again.secret)]).toEqual([false, true, true]);
  });

  it("ends the old secret at once where it has leaked", async () => {
    const { id, secret } = await createKey(["read"]);
    const { json } = await rotate(id, { overlapMs: 0 });
    expect([await works(secret), await works(json.secret)]).toEqual([false, true]);
    const rows = await env.DB.prepare("select * from keys where id = ?").bind(id).all();
    expect(JSON.stringify(rows.results)).not.toContain(json.secret);
  });

  it("is refused for keys that are revoked or not there, and for odd overlaps", async () => {
    const { id } = await createKey(["read"]);
    for (const overlapMs of [-1, 604_800_001, 0.5, "long"])
      expect(pointersOf(await rotate(id, { overlapMs }))).toEqual(["#/overlapMs"]);
    await callEdge("DELETE", `/v1/keys/${id}`);
    expect(problemOf(await rotate(id)).code).toBe("conflict");
    expect(problemOf(await rotate(createId("key"))).code).toBe("not-found");
  });

  it("shows when a key was used", async () => {
    const { id, secret } = await createKey(["read"]);
    await callEdge("GET", "/v1/runners", { key: secret });
    const { items } = (await callEdge("GET", "/v1/keys")).json;
    expect(Date.parse(items.find((key: { id: string }) => key.id === id).lastUsedAt)).toBeGreaterThan(0);
  });
});

describe("the audit log", () => {
  const read = async (query: string) => (await callEdge("GET", `/v1/audit?${query}`)).json;

  it("has every administrator's act, its author and its outcome, newest first", async () => {
    const { id, secret } = await createKey(["admin"]);
    const { runnerId } = await registerRunner();
    await callEdge("POST", `/v1/runners/${runnerId}/drain`, { key: secret });
    await callEdge("DELETE", `/v1/keys/${createId("key")}`, { key: secret });
    await callEdge("GET", "/v1/keys", { key: secret });
    const { items } = await read(`key=${id}`);
    expect(items).toMatchObject([
      { key: id, action: "DELETE /v1/keys/{id}", status: 404 },
      { key: id, action: "POST /v1/runners/{id}/drain", path: `/v1/runners/${runnerId}/drain`, status: 200 },
    ]);
    expect(JSON.stringify(items)).not.toContain(secret);
    const made = (await read("key=bootstrap&limit=200")).items;
    expect(made.map(({ action }: { action: string }) => action)).toContain("POST /v1/keys");
  });

  it("is read page by page", async () => {
    const { id, secret } = await createKey(["admin"]);
    for (let i = 0; i < 5; i++) await callEdge("POST", "/v1/runners/tokens", { key: secret, body: {} });
    const first = await read(`key=${id}&limit=3`);
    const second = await read(`key=${id}&limit=3&cursor=${encodeURIComponent(first.nextCursor)}`);
    const ids = [...first.items, ...second.items].map((entry: { id: string }) => entry.id);
    expect(new Set(ids).size).toBe(5);
    expect(ids).toEqual(ids.toSorted().toReversed());
    expect(second.nextCursor).toBeNull();
  });
});

describe("what an administrator is refused", () => {
  it("is written down, too, also where that comes at once", async () => {
    const c = { get: () => "key_hasty", req: { path: "/v1/runners/x/share" } } as never;
    const act = (): Promise<never> => {
      throw new ProblemError("forbidden", "No.");
    };
    await expect(audited(c, mainEnv, endpoints.shareRunner, act)).rejects.toThrow("No.");
    const query = env.DB.prepare("select action, status from audit_entries where key_id = 'key_hasty'");
    expect((await query.all()).results).toEqual([{ action: "POST /v1/runners/{id}/share", status: 403 }]);
  });
});
