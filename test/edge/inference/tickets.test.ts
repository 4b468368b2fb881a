import { beforeAll, describe, expect, it, vi } from "vitest";
import { fromBase64Url } from "../../../src/protocol/wire/base64url.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { readGrant, splitTicket, Ticket } from "../../../src/protocol/inference/ticket.ts";
import {
  callEdge,
  createKey,
  pointersOf,
  problemOf,
  type RegisteredRunner,
  registerRunner,
} from "../stack/edge-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { calibrationResult, capabilities } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { cartpole } from "../stack/zoo.ts";

const URL_OF_RUNNER = "http://10.0.0.7:8790/v1/infer";
let runner: RegisteredRunner;
let scripted: ScriptedRunner;

const ask = (changes: object = {}, key?: string) =>
  callEdge("POST", "/v1/tickets", {
    body: { model: "cartpole", budgetMs: 50, ...changes },
    ...(key === undefined ? {} : { key }),
  });
const codeOf = async (changes: object = {}) => problemOf(await ask(changes)).code;

const seriesOf = async (metric: string): Promise<{ id: string; clock: string; configuration: { batch: number } }[]> =>
  (await callEdge("GET", `/v1/history/series?subject=cartpole@1&metric=${metric}`)).json.items;
const pointsOf = async (series: { id: string } | undefined) =>
  series === undefined ? [] : (await callEdge("GET", `/v1/history/points?series=${series.id}`)).json.points;
const refusalsOf = async (code: string) => pointsOf((await seriesOf(`refused.${code}`))[0]);

/** Reconnects with or without a listener. */
async function connect(direct?: { url: string }): Promise<void> {
  scripted = await ScriptedRunner.connect(runner);
  scripted.send({ type: "hello", capabilities: { ...capabilities, ...(direct && { direct }) }, running: [] });
  await scripted.next("welcome");
}

/** True if the MAC of a ticket is right for a secret. */
async function verify(ticket: string, secret: string): Promise<boolean> {
  const split = splitTicket(ticket);
  if (split === null) return false;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", fromBase64Url(secret) ?? new Uint8Array(), algorithm, false, [
    "verify",
  ]);
  return crypto.subtle.verify("HMAC", key, split.mac, new TextEncoder().encode(split.signed));
}

beforeAll(async () => {
  runner = await registerRunner();
  await connect();
  const uploaded = await callEdge("POST", "/v1/models?name=cartpole", {
    body: cartpole,
    headers: { "content-type": "application/octet-stream" },
  });
  const offer = await scripted.next("offer");
  expect(await codeOf()).toBe("no-placement");
  scripted.succeed(offer, calibrationResult(uploaded.json.version.id));
  await scripted.next("jobSettled");
});

describe("a ticket", () => {
  it("is not given for a runner without a listener, which gets no key either", async () => {
    await expect.poll(() => codeOf(), BOUND).toBe("no-listener");
    expect(scripted.received.filter(({ type }) => type === "ticketKey")).toEqual([]);
  });

  it("names placement and address, and is signed with the key that the runner has", async () => {
    await connect({ url: URL_OF_RUNNER });
    const { keyId, secret } = await scripted.next("ticketKey");
    await vi.waitFor(async () => expect((await ask()).status).toBe(201), BOUND);
    const before = Date.now();
    const reply = Ticket.parse((await ask({ priority: 3, confidence: 0.9 })).json);
    expect(reply).toMatchObject({ url: URL_OF_RUNNER, model: "cartpole", version: 1, budgetMs: 50 });
    expect([reply.lifeMs, reply.requests]).toEqual([LIMITS.ticketMs, LIMITS.ticketRequests]);
    expect(await verify(reply.ticket, secret)).toBe(true);
    const split = splitTicket(reply.ticket);
    expect(split?.keyId).toBe(keyId);
    const grant = readGrant(split?.payload ?? "");
    expect(grant).toMatchObject({
      runnerId: runner.runnerId,
      placementId: reply.placement.id,
      variant: "fp32",
      deviceKey: "cpu",
      backend: "ort-cpu",
      budgetMs: 50,
      confidence: 0.9,
      priority: 3,
    });
    expect(grant?.expiresAtMs).toBe(Date.parse(reply.expiresAt));
    expect(Date.parse(reply.expiresAt)).toBeGreaterThanOrEqual(before + LIMITS.ticketMs);
    const other = readGrant(splitTicket(Ticket.parse((await ask()).json).ticket)?.payload ?? "");
    expect(other?.nonce).not.toBe(grant?.nonce);
  });

  it("lives as long and is good for as many requests as were asked for, within limits", async () => {
    const { maxTicketMs: lifeMs, maxTicketRequests: requests } = LIMITS;
    const before = Date.now();
    const reply = Ticket.parse((await ask({ lifeMs, requests })).json);
    expect(reply).toMatchObject({ lifeMs, requests });
    expect(Date.parse(reply.expiresAt)).toBeGreaterThanOrEqual(before + lifeMs);
    expect(readGrant(splitTicket(reply.ticket)?.payload ?? "")).toMatchObject({
      requests,
      model: "cartpole",
      version: 1,
    });
    expect(pointersOf(await ask({ lifeMs: lifeMs + 1, requests: requests + 1 }))).toEqual(["#/lifeMs", "#/requests"]);
  });

  it("is predicted without the way over the edge", async () => {
    const { prediction } = Ticket.parse((await ask()).json);
    expect(prediction).toMatchObject({ linkMs: 0, latencyMs: prediction.serviceMs + prediction.queueMs });
    const reply = await ask({ budgetMs: 0.2 });
    expect(problemOf(reply)).toMatchObject({ code: "budget-unattainable", fits: { variant: "fp32" } });
    expect(pointersOf(reply)).toEqual(["#/budgetMs"]);
  });

  it("is counted by the reason where it is refused", async () => {
    await expect.poll(() => refusalsOf("budget-unattainable"), BOUND).toMatchObject([{ count: 1 }]);
  });

  it("is refused with the place of each mistake, and without the scope", async () => {
    expect(pointersOf(await ask({ budgetMs: "fast", inputs: {}, priority: 10 }))).toEqual([
      "#/budgetMs",
      "#/priority",
      "#/inputs",
    ]);
    expect(await codeOf({ model: "nobody" })).toBe("not-found");
    const { secret } = await createKey(["read"]);
    expect(problemOf(await ask({}, secret)).code).toBe("forbidden");
  });
});

describe("a runner's reports of direct requests", () => {
  const times = { queueMs: 0.1, uploadMs: 0.2, computeMs: 0.3, readbackMs: 0.4 };
  it("enters the history as requests do, the total by the runner's clock, and the edge's parts not at all", async () => {
    const { placement } = Ticket.parse((await ask()).json);
    const outcome = { placementId: placement.id, rows: 1, ownRows: 1, totalMs: 1.5 };
    scripted.send({
      type: "directOutcomes",
      outcomes: [
        { ...outcome, times },
        { ...outcome, totalMs: 50, times: null, refusedFor: "budget-exceeded" },
        { ...outcome, totalMs: 0.1, times: null, refusedFor: "device-lost" },
      ],
    });
    await expect
      .poll(() => seriesOf("totalMs"), BOUND)
      .toMatchObject([{ clock: "runner-wall", configuration: { variant: "fp32", backend: "ort-cpu", batch: 1 } }]);
    expect(await seriesOf("computeMs")).toMatchObject([{ clock: "runner-wall" }]);
    const clocks = [...(await seriesOf("edgeMs")), ...(await seriesOf("linkMs"))].map(({ clock }) => clock);
    // The link's is the calibration's.
    expect(clocks).toEqual(["runner-wall"]);
    // An immediate refusal needed no time of the model; both are counted by reason.
    expect(await pointsOf((await seriesOf("totalMs"))[0])).toMatchObject([{ count: 2, min: 1.5, max: 50 }]);
    for (const code of ["budget-exceeded", "device-lost"]) expect(await refusalsOf(code)).toMatchObject([{ count: 1 }]);
  });

  it("about another runner's placement is left out, and the link lives on", async () => {
    const { placement } = Ticket.parse((await ask()).json);
    const stranger = await ScriptedRunner.online(await registerRunner());
    stranger.send({ type: "directOutcomes", outcomes: [{ placementId: placement.id, rows: 7, totalMs: 9, times }] });
    stranger.send({ type: "echo", id: 1 });
    await stranger.next("echoReply");
    scripted.send({
      type: "directOutcomes",
      outcomes: [{ placementId: placement.id, rows: 2, ownRows: 2, totalMs: 9, times }],
    });
    const batches = async () => {
      const items = await seriesOf("totalMs");
      return items.map(({ configuration }) => configuration.batch).toSorted((a, b) => a - b);
    };
    await expect.poll(batches, BOUND).toEqual([1, 2]);
    expect((await callEdge("GET", "/v2/models/cartpole/stats")).json.model_stats).toMatchObject([
      { inference_count: 3, execution_count: 2, inference_stats: { queue: { count: 2 } } },
    ]);
  });
});

describe("without a connection", () => {
  it("there is no ticket", async () => {
    scripted.socket.close();
    await expect.poll(() => codeOf(), BOUND).toBe("runner-offline");
  });
});
