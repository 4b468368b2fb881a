import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { LINK_SUBPROTOCOL } from "../../../src/protocol/link.ts";
import { BUILT_IN_PROFILES } from "../../../src/protocol/fleet/profile.ts";
import { hashSecret } from "../../../src/edge/store/secret.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import {
  byNumber,
  callEdge,
  createProject,
  createToken,
  pointersOf,
  problemOf,
  registerRunner,
} from "../stack/edge-client.ts";
import { capabilities } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";

const register = (token: string, name = "mine") =>
  callEdge("POST", "/v1/runners", { key: null, body: { token, name } });
const describeRunner = async (id: string) => (await callEdge("GET", `/v1/runners/${id}`)).json;

describe("a registration token", () => {
  it("buys one runner, and nothing when it was used", async () => {
    const token = await createToken();
    const first = await register(token);
    expect(first.status).toBe(201);
    expect(first.json.linkUrl).toBe("ws://edge.test/v1/link");
    const again = await register(token);
    expect(again.status).toBe(409);
    expect(problemOf(again).code).toBe("token-used");
    expect(pointersOf(again)).toEqual(["#/token"]);
  });

  it("buys nothing when it has expired or was never given out", async () => {
    const token = await createToken(1_000);
    await env.DB.prepare("update registration_tokens set expires_at_ms = 1 where used_by_runner_id is null").run();
    for (const [sent, status, code] of [
      [token, 401, "token-expired"],
      ["mt_unknown", 401, "unauthorized"],
    ] as const) {
      const reply = await register(sent);
      expect(reply.status).toBe(status);
      expect(problemOf(reply).code).toBe(code);
      expect(pointersOf(reply)).toEqual(["#/token"]);
    }
  });

  it("buys nothing for a project that has closed, though it was made meanwhile", async () => {
    const { secret: key } = await createProject("closing");
    const token = await createToken(60_000, key);
    // As a request that began before the close would leave it.
    await callEdge("DELETE", "/v1/projects/closing");
    const id = createId("token");
    const values = [id, "closing", await hashSecret(token), Date.now() + 60_000];
    await env.DB.prepare("insert into registration_tokens (id, project, hash, expires_at_ms) values (?, ?, ?, ?)")
      .bind(...values)
      .run();
    expect(problemOf(await register(token)).code).toBe("token-expired");
    const { results } = await env.DB.prepare("select id from runners where project = 'closing'").all();
    expect(results).toEqual([]);
  });

  it("makes one runner of two registrations at once", async () => {
    const token = await createToken();
    const replies = await Promise.all([register(token, "twin"), register(token, "twin"), register(token, "twin")]);
    expect(replies.map(({ status }) => status).toSorted(byNumber)).toEqual([201, 409, 409]);
    const { results } = await env.DB.prepare("select id from runners where name = 'twin'").all();
    expect(results).toEqual([{ id: replies.find(({ status }) => status === 201)?.json.runnerId }]);
  });

  it("leaves no secret in the database", async () => {
    const token = await createToken();
    const { credential } = (await register(token)).json;
    const tables = await env.DB.batch([
      env.DB.prepare("select * from runners"),
      env.DB.prepare("select * from registration_tokens"),
    ]);
    const text = JSON.stringify(tables.map(({ results }) => results));
    expect(text).not.toContain(token);
    expect(text).not.toContain(credential);
  });
});

describe("a runner", () => {
  it("is registered, online with its fits, then offline", async () => {
    const runner = await registerRunner("changing");
    expect(await describeRunner(runner.runnerId)).toMatchObject({
      name: "changing",
      state: "registered",
      capabilities: null,
      profiles: [],
    });
    const scripted = await ScriptedRunner.online(runner);
    const online = await describeRunner(runner.runnerId);
    expect(online).toMatchObject({ state: "online", capabilities });
    const fits = online.profiles
      .filter((fit: { fits: boolean }) => fit.fits)
      .map((fit: { profile: string }) => fit.profile);
    expect(online.profiles).toHaveLength(BUILT_IN_PROFILES.length);
    expect(fits).toEqual(["memory-constrained", "balanced"]);
    scripted.socket.close(1000, "done");
    await expect.poll(async () => (await describeRunner(runner.runnerId)).state).toBe("offline");
  });

  it("drains and resumes on a message", async () => {
    const runner = await registerRunner();
    const scripted = await ScriptedRunner.online(runner);
    const drained = await callEdge("POST", `/v1/runners/${runner.runnerId}/drain`);
    expect(drained.json.state).toBe("draining");
    expect((await scripted.next("drain")).draining).toBe(true);
    scripted.socket.close(1000, "restarting");
    await scripted.nextClose();
    const again = await ScriptedRunner.online(runner);
    expect((await again.next("drain")).draining).toBe(true);
    const resumed = await callEdge("POST", `/v1/runners/${runner.runnerId}/resume`);
    expect(resumed.json.state).toBe("online");
    expect((await again.next("drain")).draining).toBe(false);
    expect(resumed.json.version).toBeGreaterThan(drained.json.version);
  });

  it("keeps its old credential until the new one is used", async () => {
    const { runnerId, credential: old } = await registerRunner();
    const { credential } = (await callEdge("POST", `/v1/runners/${runnerId}/rotate`)).json;
    expect(credential).not.toBe(old);
    const knock = async (key: string) => (await callEdge("GET", "/v1/link", { key })).json.code;
    expect(await knock(old)).toBe("upgrade-required");
    expect(await knock(credential)).toBe("upgrade-required");
    expect(await knock(old)).toBe("unauthorized");
    expect(await knock(credential)).toBe("upgrade-required");
  });

  it("is gone when it was removed: refused, closed, shut out, listed no more", async () => {
    const runner = await registerRunner("doomed");
    const scripted = await ScriptedRunner.online(runner);
    const removed = await callEdge("DELETE", `/v1/runners/${runner.runnerId}`);
    expect(removed.status).toBe(204);
    expect((await scripted.next("refused")).problem.code).toBe("forbidden");
    expect((await scripted.nextClose()).code).toBe(4002);
    expect(problemOf(await callEdge("GET", `/v1/runners/${runner.runnerId}`)).code).toBe("not-found");
    expect(problemOf(await callEdge("DELETE", `/v1/runners/${runner.runnerId}`)).code).toBe("not-found");
    expect(problemOf(await callEdge("GET", "/v1/link", { key: runner.credential })).code).toBe("unauthorized");
    const { items } = (await callEdge("GET", "/v1/runners?limit=200")).json;
    expect(items.map(({ name }: { name: string }) => name)).not.toContain("doomed");
  });
});

describe("the runner's own routes", () => {
  it("want a handshake of this protocol", async () => {
    const { credential } = await registerRunner();
    const headers = { upgrade: "websocket", "sec-websocket-protocol": "millrace.v999" };
    const reply = await callEdge("GET", "/v1/link", { key: credential, headers });
    expect(problemOf(reply).code).toBe("upgrade-required");
    expect(pointersOf(reply)).toEqual(["header/sec-websocket-protocol"]);
    const plain = { "sec-websocket-protocol": LINK_SUBPROTOCOL };
    const refused = await callEdge("GET", "/v1/link", { key: credential, headers: plain });
    expect(problemOf(refused).code).toBe("upgrade-required");
    expect(pointersOf(refused)).toEqual(["header/upgrade"]);
  });

  it("name the digest that is malformed or not there", async () => {
    const { credential } = await registerRunner();
    const fetchArtifact = (digest: string) => callEdge("GET", `/v1/artifacts/${digest}`, { key: credential });
    expect(pointersOf(await fetchArtifact("sha256:short"))).toEqual(["path/digest"]);
    expect(problemOf(await fetchArtifact(`sha256:${"0".repeat(64)}`)).code).toBe("not-found");
  });
});

it("a list of kernels is what the runners that are there announce", async () => {
  await ScriptedRunner.online(await registerRunner());
  expect((await callEdge("GET", "/v1/kernels")).json).toEqual({
    items: capabilities.kernels.map((kernel) => ({ ...kernel, source: "announced" })),
    nextCursor: null,
  });
});
