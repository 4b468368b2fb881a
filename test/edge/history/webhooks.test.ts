import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AlertEvent, deliverDue, prepareDeliveries } from "../../../src/edge/history/webhooks/deliveries.ts";
import { tendHistory } from "../../../src/edge/history/tend-history.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { DEFAULT_QUOTAS } from "../../../src/edge/store/quotas/default-quotas.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import type { CreatedWebhook, Delivery, Webhook, WebhookInput } from "../../../src/protocol/service/webhook.ts";
import { MAIN_PROJECT } from "../../../src/protocol/service/project.ts";
import { callEdge, createProject, pointersOf, problemOf } from "../stack/edge-client.ts";
import { BOUND } from "../stack/runner-script.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const NOW_MS = Date.parse("2026-06-01T12:30:00.000Z");
const URL_OF = (name: string) => `https://${name}.test/hook`;

/** Answer of each receiver, by host; test/contract/webhooks.test.ts has real ones. */
const answers = new Map<string, () => Promise<Response>>();
const sent: { url: string; id: string; body: string }[] = [];

beforeEach(async () => {
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
    sent.push({ url, id: new Headers(init.headers).get("webhook-id") ?? "", body: init.body as string });
    return answers.get(new URL(url).hostname)?.() ?? Promise.resolve(new Response("ok"));
  });
  await env.DB.batch([env.DB.prepare("delete from webhook_deliveries"), env.DB.prepare("delete from webhooks")]);
});
afterEach(() => {
  vi.unstubAllGlobals();
  answers.clear();
  sent.length = 0;
});

async function create(name: string, more: Partial<WebhookInput> = {}): Promise<CreatedWebhook> {
  const reply = await callEdge("POST", "/v1/webhooks", { body: { url: URL_OF(name), ...more } });
  expect(reply.status).toBe(201);
  return reply.json;
}

function happened(change: Partial<AlertEvent> = {}): AlertEvent {
  return {
    project: MAIN_PROJECT,
    type: "alert.opened",
    alert: { id: "alr_1", direction: "regression" },
    atMs: NOW_MS,
    ...change,
  };
}

async function deliveriesOf(id: string): Promise<Delivery[]> {
  return (await callEdge("GET", `/v1/webhooks/${id}/deliveries`)).json.items;
}

describe("a webhook", () => {
  it("of a tenant leads out of the edge's own network", async () => {
    const { secret: key } = await createProject("hooked");
    const ask = (url: string) => callEdge("POST", "/v1/webhooks", { key, body: { url } });
    for (const host of ["localhost:8443", "127.0.0.1", "2130706433", "0x7f.1", "10.1.2.3", "172.31.0.1", "192.168.1.1"])
      expect(pointersOf(await ask(`https://${host}/hook`)), host).toEqual(["#/url"]);
    for (const host of [
      "169.254.169.254",
      "100.64.0.1",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[fd00::1]",
      "[fe80::1]",
      "[64:ff9b::a00:1]",
      "[ff02::1]",
      "224.0.0.1",
      "grafana",
      "nas.home.arpa",
      "db.internal",
    ])
      expect(pointersOf(await ask(`https://${host}/hook`)), host).toEqual(["#/url"]);
    expect(pointersOf(await ask("http://127.0.0.1:9/hook"))).toEqual(["#/url"]);
    for (const host of ["example.com", "10.example.com", "127.acme.io", "172.32.0.1", "100.128.0.1", "[2001:db8::1]"])
      expect((await ask(`https://${host}/hook`)).status, host).toBe(201);
    expect((await callEdge("POST", "/v1/webhooks", { body: { url: "https://127.0.0.1/hook" } })).status).toBe(201);
  });

  it("of a project that is closed gets nothing more, not even what waits or is being sent", async () => {
    const { project, secret: key } = await createProject("leaving");
    for (const host of ["waiting", "sending"]) {
      const body = { url: `https://${host}.example/hook` };
      expect((await callEdge("POST", "/v1/webhooks", { key, body })).status).toBe(201);
    }
    answers.set("waiting.example", () => Promise.resolve(new Response(null, { status: 500 })));
    answers.set("sending.example", async () => {
      await callEdge("DELETE", `/v1/projects/${project}`);
      return new Response(null, { status: 500 });
    });
    await prepareDeliveries(env.DB, happened({ project })).run();
    await deliverDue(env, NOW_MS);
    await prepareDeliveries(env.DB, happened({ project })).run();
    // Also where a webhook was made while the project closed.
    await env.DB.prepare("update webhooks set disabled_at_ms = null where project = ?").bind(project).run();
    await prepareDeliveries(env.DB, happened({ project })).run();
    await deliverDue(env, NOW_MS + 7 * DAY_MS);
    expect(sent.map(({ url }) => new URL(url).host).toSorted()).toEqual(["sending.example", "waiting.example"]);
  });

  it("shows its secret once, and never again", async () => {
    const { secret, ...webhook } = await create("once");
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(webhook).toMatchObject({ events: ["alert.opened", "alert.resolved"], disabledAt: null });
    const listed = await callEdge("GET", "/v1/webhooks");
    expect(listed.json.items).toEqual([webhook]);
    expect(JSON.stringify(listed.json)).not.toContain(secret.slice(6));
    await prepareDeliveries(env.DB, happened()).run();
    await deliverDue(env, NOW_MS);
    expect(JSON.stringify(await deliveriesOf(webhook.id))).not.toContain(secret.slice(6));
  });

  it.each([
    ["http://example.com/hook", "plain HTTP over a network"],
    ["ftp://example.com/hook", "another protocol"],
    ["https://me:secret@example.com/hook", "credentials"],
    ["https://me@example.com/hook", "a name"],
    ["http://127.0.0.1.example.com/", "a name that only begins like a loopback address"],
    ["example.com/hook", "no URL"],
    [`https://example.com/${"x".repeat(LIMITS.urlLength)}`, "too long a URL"],
  ])("is refused for %s: %s", async (url) => {
    expect(pointersOf(await callEdge("POST", "/v1/webhooks", { body: { url } }))).toEqual(["#/url"]);
  });

  it.each(["http://localhost:9000/", "http://127.8.0.1/a", "http://[::1]:80/", "https://10.0.0.1:8443/x?y=1"])(
    "may be at %s",
    async (url) => {
      const reply = await callEdge("POST", "/v1/webhooks", { body: { url } });
      expect(reply.json).toMatchObject({ url });
    },
  );

  it(`is refused beyond ${DEFAULT_QUOTAS.webhooks} of them`, async () => {
    for (let i = 0; i < DEFAULT_QUOTAS.webhooks; i++) await create(`many-${i}`);
    expect(problemOf(await callEdge("POST", "/v1/webhooks", { body: { url: URL_OF("more") } })).code).toBe(
      "quota-exceeded",
    );
    const pages: Webhook[] = [];
    let cursor = "";
    do {
      const { items, nextCursor } = (await callEdge("GET", `/v1/webhooks?limit=7${cursor}`)).json;
      pages.push(...items);
      cursor = nextCursor === null ? "" : `&cursor=${nextCursor}`;
    } while (cursor !== "");
    expect(new Set(pages.map(({ id }) => id)).size).toBe(DEFAULT_QUOTAS.webhooks);
  });

  it("goes with its deliveries, sent or not", async () => {
    const { id } = await create("going");
    await prepareDeliveries(env.DB, happened()).run();
    expect((await callEdge("DELETE", `/v1/webhooks/${id}`)).status).toBe(204);
    expect((await callEdge("GET", `/v1/webhooks/${id}/deliveries`)).status).toBe(404);
    await deliverDue(env, NOW_MS);
    expect(sent).toEqual([]);
    expect((await callEdge("DELETE", `/v1/webhooks/${id}`)).status).toBe(404);
  });
});

describe("an event", () => {
  it("goes to those who asked for it, as it was when it happened", async () => {
    const all = await create("all", { events: ["alert.opened", "alert.dismissed", "alert.opened"] });
    const none = await create("none", { events: ["alert.resolved"] });
    const worse = await create("worse", { direction: "regression" });
    const better = await create("better", { direction: "improvement" });
    const alert = { id: "alr_1", direction: "regression", note: "first" };
    await prepareDeliveries(env.DB, happened({ alert })).run();
    alert.note = "second";
    await deliverDue(env, NOW_MS);
    expect(sent.map(({ url }) => url).toSorted()).toEqual([all.url, worse.url]);
    expect(sent.map(({ body }) => JSON.parse(body))[0]).toEqual({
      type: "alert.opened",
      timestamp: "2026-06-01T12:30:00.000Z",
      data: { id: "alr_1", direction: "regression", note: "first" },
    });
    expect(await deliveriesOf(none.id)).toEqual([]);
    expect(await deliveriesOf(better.id)).toEqual([]);
    expect(await deliveriesOf(worse.id)).toMatchObject([
      { event: "alert.opened", alertId: "alr_1", state: "delivered", attempts: 1, lastOutcome: "answered 200" },
    ]);
  });

  it("is sent again under the same id, ever later, and given up at last", async () => {
    const { id } = await create("down");
    answers.set("down.test", async () => new Response("sorry", { status: 500 }));
    await prepareDeliveries(env.DB, happened()).run();
    let nowMs = NOW_MS;
    const waits: number[] = [];
    for (let attempt = 1; attempt <= LIMITS.webhookAttempts; attempt++) {
      await deliverDue(env, nowMs);
      const [delivery] = await deliveriesOf(id);
      expect(delivery).toMatchObject({ attempts: attempt, lastOutcome: "answered 500" });
      await deliverDue(env, nowMs);
      expect(sent).toHaveLength(attempt);
      if (delivery?.nextAttemptAt == null) break;
      waits.push(Date.parse(delivery.nextAttemptAt) - nowMs);
      nowMs = Date.parse(delivery.nextAttemptAt);
    }
    expect(waits).toHaveLength(LIMITS.webhookAttempts - 1);
    for (const [failures, waitMs] of waits.entries()) {
      expect(waitMs).toBeGreaterThanOrEqual((MINUTE_MS * 2 ** failures) / 2);
      expect(waitMs).toBeLessThanOrEqual(MINUTE_MS * 2 ** failures);
    }
    await deliverDue(env, nowMs + 30 * DAY_MS);
    expect(await deliveriesOf(id)).toMatchObject([{ state: "given-up", nextAttemptAt: null, deliveredAt: null }]);
    expect(new Set(sent.map((each) => each.id)).size).toBe(1);
    expect(sent).toHaveLength(LIMITS.webhookAttempts);
  });

  it("is sent once by several senders at a time", async () => {
    for (const name of ["one", "two", "three"]) await create(name);
    for (let i = 0; i < 10; i++) await prepareDeliveries(env.DB, happened()).run();
    await Promise.all(Array.from({ length: 5 }, () => deliverDue(env, NOW_MS)));
    expect(sent).toHaveLength(30);
    expect(new Set(sent.map(({ id }) => id)).size).toBe(30);
  });

  it("is sent anew where its sender was lost in the middle, and not before", async () => {
    const { id } = await create("lost");
    await prepareDeliveries(env.DB, happened()).run();
    // Never answers, as for a sender that ended meanwhile.
    answers.set("lost.test", () => new Promise(() => {}));
    const lost = deliverDue(env, NOW_MS);
    await vi.waitFor(() => expect(sent).toHaveLength(1), BOUND);
    answers.clear();
    await deliverDue(env, NOW_MS + MINUTE_MS);
    expect(sent).toHaveLength(1);
    await deliverDue(env, NOW_MS + 5 * MINUTE_MS);
    expect(sent).toHaveLength(2);
    expect(await deliveriesOf(id)).toMatchObject([{ state: "delivered", attempts: 2 }]);
    void lost;
  });

  it("waits behind no other webhook's silence", async () => {
    await create("noisy");
    for (let i = 0; i < 40; i++) await prepareDeliveries(env.DB, happened({ atMs: NOW_MS - 1_000 })).run();
    const late = await create("late");
    await prepareDeliveries(env.DB, happened()).run();
    await deliverDue(env, NOW_MS);
    expect(sent.findIndex(({ url }) => url === late.url)).toBeLessThan(24);
  });

  it("stops at a receiver that is gone for good", async () => {
    const { id } = await create("gone");
    answers.set("gone.test", async () => new Response(null, { status: 410 }));
    await prepareDeliveries(env.DB, happened()).run();
    await deliverDue(env, NOW_MS);
    await prepareDeliveries(env.DB, happened()).run();
    await deliverDue(env, NOW_MS + DAY_MS);
    expect(sent).toHaveLength(1);
    expect(await deliveriesOf(id)).toMatchObject([{ state: "given-up", attempts: 1, lastOutcome: "answered 410" }]);
    const listed: Webhook[] = (await callEdge("GET", "/v1/webhooks")).json.items;
    expect(listed.map(({ disabledAt }) => disabledAt)).toEqual([new Date(NOW_MS).toISOString()]);
  });

  it("is a failure where the receiver redirects or cannot be reached", async () => {
    const { id } = await create("moved");
    answers.set("moved.test", async () => new Response(null, { status: 302, headers: { location: URL_OF("other") } }));
    await prepareDeliveries(env.DB, happened()).run();
    await deliverDue(env, NOW_MS);
    expect(await deliveriesOf(id)).toMatchObject([{ state: "pending", lastOutcome: "answered 302" }]);
    answers.set("moved.test", () => Promise.reject(new TypeError("connection to whsec_ refused")));
    await deliverDue(env, NOW_MS + MINUTE_MS);
    expect(await deliveriesOf(id)).toMatchObject([{ state: "pending", lastOutcome: "could not be reached" }]);
    expect(sent).toHaveLength(2);
  });

  it("is sent by what tends the history, and forgotten after 30 days", async () => {
    const { id } = await create("tended");
    await prepareDeliveries(env.DB, happened()).run();
    await tendHistory(env, NOW_MS);
    expect(await deliveriesOf(id)).toMatchObject([{ state: "delivered" }]);
    // Old deliveries go in the first minute of an hour.
    const hourMs = NOW_MS - (NOW_MS % 3_600_000);
    await tendHistory(env, hourMs + 30 * DAY_MS);
    expect(await deliveriesOf(id)).toHaveLength(1);
    await tendHistory(env, hourMs + 31 * DAY_MS);
    expect(await deliveriesOf(id)).toEqual([]);
  });

  it("is listed page by page, newest first, each once", async () => {
    const { id } = await create("paged");
    for (let i = 0; i < 7; i++) {
      await prepareDeliveries(env.DB, happened({ atMs: NOW_MS + Math.floor(i / 3) })).run();
    }
    const all = await deliveriesOf(id);
    const paged: Delivery[] = [];
    let cursor = "";
    do {
      const page = (await callEdge("GET", `/v1/webhooks/${id}/deliveries?limit=2${cursor}`)).json;
      paged.push(...page.items);
      cursor = page.nextCursor === null ? "" : `&cursor=${page.nextCursor}`;
    } while (cursor !== "");
    expect(paged).toEqual(all);
    expect(all).toHaveLength(7);
    expect(all.map(({ createdAt }) => createdAt)).toEqual(
      all
        .map(({ createdAt }) => createdAt)
        .toSorted()
        .toReversed(),
    );
  });
});

describe("a ping", () => {
  it("is one signed message that no list holds, and returns its outcome", async () => {
    const { id } = await create("pinged");
    expect((await callEdge("POST", `/v1/webhooks/${id}/ping`)).json).toEqual({
      delivered: true,
      outcome: "answered 200",
    });
    answers.set("pinged.test", async () => new Response(null, { status: 410 }));
    expect((await callEdge("POST", `/v1/webhooks/${id}/ping`)).json).toEqual({
      delivered: false,
      outcome: "answered 410",
    });
    expect(sent.map(({ body }) => JSON.parse(body).type)).toEqual(["webhook.ping", "webhook.ping"]);
    expect(sent.map((each) => each.id).every((each) => each.startsWith("dlv_"))).toBe(true);
    expect(await deliveriesOf(id)).toEqual([]);
    expect((await callEdge("GET", "/v1/webhooks")).json.items).toMatchObject([{ disabledAt: null }]);
    expect((await callEdge("POST", `/v1/webhooks/${createId("webhook")}/ping`)).status).toBe(404);
  });
});
