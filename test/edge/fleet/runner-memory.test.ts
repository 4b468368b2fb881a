import { afterEach, describe, expect, it, vi } from "vitest";
import { CLOSE_CODES } from "../../../src/protocol/link.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { callEdge, createKey, missingId, problemOf } from "../stack/edge-client.ts";
import { newOnlineRunner, newRunner } from "../stack/queue-client.ts";
import { memoryReport } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { skipTimers } from "../stack/stopped-clock.ts";

const ask = (runnerId: string, key?: string) =>
  callEdge("GET", `/v1/runners/${runnerId}/memory`, key === undefined ? {} : { key });

afterEach(() => vi.restoreAllMocks());

describe("a runner's memory", () => {
  it("is the runner's answer when it is asked", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const reply = ask(runnerId);
    const { requestId } = await scripted.next("memoryRequest");
    scripted.send({ type: "memoryReport", requestId, report: memoryReport });
    const { status, json } = await reply;
    expect(status).toBe(200);
    expect(json).toEqual({ ...memoryReport, runnerId, reportedAt: expect.stringMatching(/^\d{4}-.*Z$/) });
  });

  it("is sent to all callers that ask at once", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const replies = [ask(runnerId), ask(runnerId)];
    for (const usedBytes of [1, 2]) {
      const { requestId } = await scripted.next("memoryRequest");
      const [tier] = memoryReport.tiers;
      const report = { ...memoryReport, tiers: tier === undefined ? [] : [{ ...tier, usedBytes }] };
      scripted.send({ type: "memoryReport", requestId, report });
    }
    const told = (await Promise.all(replies)).map(({ json }) => json.tiers[0].usedBytes as number);
    expect(told.toSorted((a, b) => a - b)).toEqual([1, 2]);
  });

  it("is for a key that may read, of a runner that is there", async () => {
    const { runnerId } = await newRunner();
    expect(problemOf(await ask(missingId.runner)).code).toBe("not-found");
    expect(problemOf(await ask(runnerId, (await createKey(["infer"])).secret)).code).toBe("forbidden");
    const invalid = await callEdge("GET", "/v1/runners/nobody/memory");
    expect(problemOf(invalid)).toMatchObject({ code: "invalid-request", errors: [{ pointer: "path/id" }] });
  });

  it("cannot be had of a runner that is not connected", async () => {
    const { runnerId } = await newRunner();
    expect(problemOf(await ask(runnerId))).toMatchObject({ code: "runner-offline", retryAfterMs: 1_000 });
  });

  it("ends with a problem when the socket breaks or the answer does not come", async () => {
    const runner = await newRunner();
    const scripted = await ScriptedRunner.online(runner);
    const broken = ask(runner.runnerId);
    await scripted.next("memoryRequest");
    scripted.socket.close(1000, "gone");
    expect(problemOf(await broken).code).toBe("runner-lost");
    const silent = await ScriptedRunner.online(runner);
    const countWaits = skipTimers(LIMITS.onlyReportMs);
    const reply = ask(runner.runnerId);
    await silent.next("memoryRequest");
    const { code, status } = problemOf(await reply);
    expect([code, status]).toEqual(["budget-exceeded", 504]);
    expect(countWaits()).toBe(1);
  });

  it("that is not of the protocol closes the socket", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const reply = ask(runnerId);
    const { requestId } = await scripted.next("memoryRequest");
    scripted.socket.send(JSON.stringify({ type: "memoryReport", requestId, report: { tiers: [{ tier: "tape" }] } }));
    expect((await scripted.nextClose()).code).toBe(CLOSE_CODES.protocolError);
    expect(problemOf(await reply).code).toBe("runner-lost");
  });
});
