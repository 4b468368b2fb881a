import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { createId } from "../../src/protocol/wire/id.ts";
import { LIMITS } from "../../src/protocol/wire/limits.ts";
import type { CreatedWebhook } from "../../src/protocol/service/webhook.ts";
import { childPids } from "../process/child-pids.ts";
import { type LiveEdge, startLiveEdge } from "./live-edge.ts";

/** Webhooks as a receiver meets them: a server of Node's own, and nothing of ours to check signatures with. */

interface Received {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Twelve attempts, each with a round of upkeep before it, and starts of workerd, on a slow machine. */
const BOUND = { timeout: 90_000, interval: 20 };

let edge: LiveEdge;
let receiverUrl: string;
let answer: (response: ServerResponse) => void;
const received: Received[] = [];
const receiver = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
  request.on("end", () => {
    received.push({ path: request.url, headers: request.headers, body });
    answer(response);
  });
});

beforeAll(async () => {
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  edge = await startLiveEdge({ cronMs: 50, variables: { WEBHOOK_RETRY_MS: "1" } });
});
afterEach(() => {
  received.length = 0;
});
afterAll(async () => {
  await edge.stop();
  receiver.closeAllConnections();
  receiver.close();
});

const status = (code: number, headers: Record<string, string> = {}) => {
  return (response: ServerResponse) => void response.writeHead(code, headers).end("thank you");
};

function create(path: string): Promise<CreatedWebhook> {
  return edge.client.call(endpoints.createWebhook, { body: { url: receiverUrl + path } });
}

/** A message that is due, put into the database as an alert would. */
function owe(webhookId: string): Promise<void> {
  const body = JSON.stringify({ type: "alert.opened", data: { id: "alr_1", note: "größer als zuvor" } });
  return edge.whileStopped((database) => {
    database
      .prepare(
        `insert into webhook_deliveries (id, webhook_id, alert_id, body, next_at_ms, created_at_ms)
         values (?, ?, 'alr_1', ?, 0, 0)`,
      )
      .run(createId("delivery"), webhookId, body);
  });
}

async function deliveryOf(webhookId: string) {
  const { items } = await edge.client.call(endpoints.listDeliveries, { params: { id: webhookId } });
  return items[0];
}

/** The process of the edge; throws where there is none or several, as between a crash and the next start. */
async function findWorkerd(): Promise<number> {
  const children = await childPids(process.pid);
  // One that has ended meanwhile has no name any more.
  const named = children.map((pid) => [pid, nameOf(pid)] as const).filter(([, name]) => name === "workerd");
  const [[pid] = [], ...others] = named;
  if (pid === undefined || others.length > 0) throw new Error(`${named.length} processes of workerd are there`);
  return pid;
}

function nameOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return null;
  }
}

/** As Standard Webhooks writes it down: `v1,` and base64 of HMAC-SHA256 over id, timestamp and body. */
function expectSigned({ headers, body }: Received, secret: string): void {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = headers;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  expect(key.length).toBeGreaterThanOrEqual(24);
  const expected = createHmac("sha256", key)
    .update(`${String(id)}.${String(timestamp)}.${body}`)
    .digest("base64");
  expect(signature).toBe(`v1,${expected}`);
  expect(Math.abs(Number(timestamp) - Date.now() / 1e3)).toBeLessThan(120);
  expect(headers["content-type"]).toBe("application/json");
}

it("a ping arrives signed, and its answer is reported", async () => {
  answer = status(204);
  const { id, secret } = await create("/ping");
  const ping = await edge.client.call(endpoints.pingWebhook, { params: { id } });
  expect(ping).toEqual({ delivered: true, outcome: "answered 204" });
  expect(received.map(({ path }) => path)).toEqual(["/ping"]);
  expectSigned(received[0] as Received, secret);
  expect(() => expectSigned(received[0] as Received, `whsec_${"A".repeat(32)}`)).toThrow("v1,");
});

it("a message comes again after a 500, the same and newly signed", async () => {
  answer = (response) => status(received.length < 3 ? 500 : 200)(response);
  const { id, secret } = await create("/again");
  await owe(id);
  await expect
    .poll(() => deliveryOf(id), BOUND)
    .toMatchObject({ state: "delivered", attempts: 3, lastOutcome: "answered 200" });
  expect(new Set(received.map(({ headers, body }) => `${String(headers["webhook-id"])} ${body}`)).size).toBe(1);
  for (const each of received) expectSigned(each, secret);
});

it("a receiver that always fails is given up", async () => {
  answer = status(503);
  const { id } = await create("/never");
  await owe(id);
  await expect
    .poll(() => deliveryOf(id), BOUND)
    .toMatchObject({ state: "given-up", attempts: LIMITS.webhookAttempts, nextAttemptAt: null });
  expect(received).toHaveLength(LIMITS.webhookAttempts);
});

it("a receiver that is gone is asked no more", async () => {
  answer = status(410);
  const { id } = await create("/gone");
  await owe(id);
  await expect.poll(() => deliveryOf(id), BOUND).toMatchObject({ state: "given-up", attempts: 1 });
  const { items } = await edge.client.call(endpoints.listWebhooks);
  expect(items.find((each) => each.id === id)?.disabledAt).not.toBeNull();
});

it("a message is sent after workerd crashed, which is started again on its port", async () => {
  answer = status(200);
  const { id } = await create("/crashed");
  const crashed = await findWorkerd();
  process.kill(crashed, "SIGSEGV");
  await expect.poll(async () => (await findWorkerd()) !== crashed, BOUND).toBe(true);
  await expect.poll(() => deliveryOf(id).then(() => true), BOUND).toBe(true);
  await owe(id);
  await expect.poll(() => deliveryOf(id), BOUND).toMatchObject({ state: "delivered", attempts: 1 });
});

it("an edge that ends while it sends loses nothing", async () => {
  answer = () => undefined;
  const { id, secret } = await create("/cut-off");
  await owe(id);
  await expect.poll(() => received.length, BOUND).toBe(1);
  answer = status(200);
  await edge.whileStopped((database) => {
    const claimed = database.prepare("select next_at_ms > 0 as isClaimed from webhook_deliveries where webhook_id = ?");
    expect(claimed.get(id)).toEqual({ isClaimed: 1 });
    // As if the claimer's lease were over.
    database.prepare("update webhook_deliveries set next_at_ms = 0 where webhook_id = ?").run(id);
  });
  await expect.poll(() => deliveryOf(id), BOUND).toMatchObject({ state: "delivered", attempts: 2 });
  expect(received[1]?.headers["webhook-id"]).toBe(received[0]?.headers["webhook-id"]);
  expectSigned(received[1] as Received, secret);
});

it("redirects are not followed, and an answer without end is not read", async () => {
  const { id } = await create("/odd");
  answer = status(307, { location: `${receiverUrl}/elsewhere` });
  const moved = await edge.client.call(endpoints.pingWebhook, { params: { id } });
  expect(moved).toEqual({ delivered: false, outcome: "answered 307" });
  expect(received.map(({ path }) => path)).toEqual(["/odd"]);
  answer = (response) => {
    const pour = () => {
      while (!response.destroyed && response.write("x".repeat(65_536)));
    };
    response.on("drain", pour).writeHead(200);
    pour();
  };
  const endless = await edge.client.call(endpoints.pingWebhook, { params: { id } });
  expect(endless).toEqual({ delivered: true, outcome: "answered 200" });
});

it("a receiver that is silent or missing is reported as such", async () => {
  const { id } = await create("/silent");
  answer = () => undefined;
  const silent = await edge.client.call(endpoints.pingWebhook, { params: { id } });
  expect(silent).toEqual({ delivered: false, outcome: `no answer in ${LIMITS.webhookTimeoutMs} ms` });
  const { id: absent } = await edge.client.call(endpoints.createWebhook, { body: { url: "http://127.0.0.1:9/" } });
  const refused = await edge.client.call(endpoints.pingWebhook, { params: { id: absent } });
  expect(refused).toEqual({ delivered: false, outcome: "could not be reached" });
});
