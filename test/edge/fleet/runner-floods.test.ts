import { runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ANNOUNCED, OUTCOME_MESSAGES, OUTCOMES, REPORT_MESSAGES, REPORTS } from "../../../src/edge/link/find-excess.ts";
import { CLOSE_CODES, LINK_SUBPROTOCOL } from "../../../src/protocol/link.ts";
import { createId } from "../../../src/protocol/wire/id.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { callEdge, problemOf } from "../stack/edge-client.ts";
import { report } from "../stack/health-samples.ts";
import { linkStub, newOnlineRunner, newRunner } from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { capabilities } from "../stack/samples.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";
import { stopCalmClock } from "../stack/stopped-clock.ts";
import { troubleDatabase } from "../stack/troubled-database.ts";

afterEach(() => vi.restoreAllMocks());

async function awaitEcho(scripted: ScriptedRunner): Promise<void> {
  scripted.send({ type: "echo", id: 1 });
  await scripted.next("echoReply");
}

describe("a runner's flood", () => {
  it("of direct outcomes is measured as far as the rate of outcomes goes, one message after the other", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const seen = { asked: 0, underWay: 0, most: 0, isHeld: true };
    const heal = await troubleDatabase(linkStub(runnerId), async (run) => {
      seen.asked++;
      seen.most = Math.max(seen.most, ++seen.underWay);
      while (seen.isHeld) await scheduler.wait(5);
      const found = await run();
      seen.underWay--;
      return found;
    });
    const outcome = { placementId: createId("placement"), rows: 1, totalMs: 1, times: null };
    const outcomes = Array.from({ length: LIMITS.directOutcomes }, () => outcome);
    const allowed = OUTCOMES.burst / outcomes.length;
    await stopCalmClock();
    for (let sent = 0; sent < 2 * allowed; sent++) scripted.send({ type: "directOutcomes", outcomes });
    await awaitEcho(scripted);
    await expect.poll(() => seen, BOUND).toMatchObject({ asked: 1, underWay: 1 });
    seen.isHeld = false;
    await expect.poll(() => seen.asked, BOUND).toBeGreaterThanOrEqual(allowed);
    await expect.poll(() => seen.underWay, BOUND).toBe(0);
    await awaitEcho(scripted);
    await heal();
    expect(seen.asked).toBeLessThan(1.5 * allowed);
    expect(seen.most).toBe(1);
    expect(scripted.closed).toBeNull();
    for (let sent = 0; sent < 3 * OUTCOME_MESSAGES.burst; sent++)
      scripted.send({ type: "directOutcomes", outcomes: [outcome] });
    expect(await scripted.nextClose()).toMatchObject({
      code: CLOSE_CODES.protocolError,
      reason: expect.stringContaining("direct outcomes more than"),
    });
  });

  it("of health reports is kept as far as their rate goes, and answers to questions are not counted", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    await stopCalmClock();
    for (let index = 0; index < 3 * REPORTS.burst; index++) {
      scripted.send({ type: "health", requestId: createId("request"), report: report(index) });
      scripted.send({ type: "health", requestId: null, report: report(index) });
    }
    await awaitEcho(scripted);
    await vi.waitFor(async () => {
      const kept = await runInDurableObject(linkStub(runnerId), (_, { storage }) =>
        storage.sql.exec("select count(*) as reports from recent_reports").one(),
      );
      expect(kept).toEqual({ reports: REPORTS.burst });
    }, BOUND);
    expect(scripted.closed).toBeNull();
    for (let sent = 0; sent < REPORT_MESSAGES.burst; sent++)
      scripted.send({ type: "health", requestId: null, report: report(sent) });
    expect(await scripted.nextClose()).toMatchObject({
      code: CLOSE_CODES.protocolError,
      reason: expect.stringContaining("health reports more than"),
    });
  });

  it("of capabilities is the same flood on its next socket", async () => {
    const runner = await newRunner();
    await stopCalmClock();
    const first = await ScriptedRunner.online(runner);
    for (let sent = 1; sent < ANNOUNCED.burst; sent++) first.send({ type: "capabilities", capabilities });
    await awaitEcho(first);
    expect(first.closed).toBeNull();
    first.socket.close(1000, "again");
    const second = await ScriptedRunner.connect(runner);
    second.send({ type: "hello", capabilities, running: [] });
    expect(await second.nextClose()).toMatchObject({
      code: CLOSE_CODES.protocolError,
      reason: expect.stringContaining("capabilities more often"),
    });
  });

  it("that broke the protocol keeps it away for a second, and twice as long after a further one", async () => {
    const runner = await newRunner();
    const connect = () =>
      callEdge("GET", "/v1/link", {
        key: runner.credential,
        headers: { upgrade: "websocket", "sec-websocket-protocol": LINK_SUBPROTOCOL },
      });
    const clock = await stopCalmClock();
    for (const restMs of [1_000, 2_000, 4_000]) {
      const scripted = await ScriptedRunner.connect(runner);
      scripted.send("no JSON" as never);
      expect((await scripted.nextClose()).code).toBe(CLOSE_CODES.protocolError);
      const refused = await connect();
      const { code, detail, retryAfterMs } = problemOf(refused);
      expect([refused.status, code]).toEqual([429, "rate-limited"]);
      expect(retryAfterMs).toBeLessThanOrEqual(restMs);
      expect(retryAfterMs).toBeGreaterThan(restMs - 1_000);
      expect([refused.headers.get("retry-after"), detail]).toEqual([
        String(restMs / 1_000),
        expect.stringContaining(`again in ${restMs / 1_000} s`),
      ]);
      clock.pass(restMs);
    }
    (await ScriptedRunner.connect(runner)).socket.close(1000, "done");
  });
});
