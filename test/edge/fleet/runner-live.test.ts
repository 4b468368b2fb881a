import { afterEach, describe, expect, it, vi } from "vitest";
import { type HealthReport, LiveEvent, LiveReport } from "../../../src/protocol/fleet/health.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { CLOSE_CODES } from "../../../src/protocol/link.ts";
import { callEdge, createKey, fetchEdge, missingId, problemOf } from "../stack/edge-client.ts";
import { report } from "../stack/health-samples.ts";
import { newOnlineRunner, newRunner } from "../stack/queue-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { ScriptedRunner } from "../stack/scripted-runner.ts";

/** Events that a watching client has read, in order; `isOver` once the edge ended the stream. */
class Watcher {
  readonly events: LiveEvent[] = [];
  isOver = false;
  readonly #reader: ReadableStreamDefaultReader<string>;

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
    void this.#read();
  }

  async next(): Promise<LiveEvent> {
    await vi.waitFor(() => expect(this.events).not.toEqual([]), BOUND);
    return this.events.shift()!;
  }

  leave(): Promise<void> {
    return this.#reader.cancel();
  }

  async #read(): Promise<void> {
    let text = "";
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      text += value;
      const whole = text.split("\n\n");
      text = whole.pop() ?? "";
      for (const message of whole) {
        const [, type, data] = /^event: (\w+)\ndata: (.*)$/.exec(message) ?? [];
        if (data === undefined) continue;
        const event = LiveEvent.parse(JSON.parse(data));
        expect(event.type).toBe(type);
        this.events.push(event);
      }
    }
    this.isOver = true;
  }
}

const path = (runnerId: string) => `/v1/runners/${runnerId}/live`;
const watchers: Watcher[] = [];

async function watch(runnerId: string): Promise<Watcher> {
  const response = await fetchEdge("GET", path(runnerId));
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const watcher = new Watcher(response.body!);
  watchers.push(watcher);
  return watcher;
}

afterEach(async () => {
  await Promise.all(watchers.splice(0).map((watcher) => watcher.leave()));
});

const live = (told: Partial<HealthReport> = {}) => LiveReport.parse(report(0, told));

describe("a runner that is watched", () => {
  it("is asked for a report each second, and its reports reach all who watch", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const [one, other] = [await watch(runnerId), await watch(runnerId)];
    expect(await one.next()).toEqual({ type: "online" });
    expect(await other.next()).toEqual({ type: "online" });
    const { everyMs, forMs } = await scripted.next("liveRequest");
    expect(everyMs).toBe(1_000);
    expect(forMs).toBeGreaterThan(everyMs);
    for (const spanMs of [1_000, 1_001]) {
      scripted.send({ type: "live", report: live({ spanMs }) });
      const event = { type: "report", report: live({ spanMs }) };
      expect(await one.next()).toEqual(event);
      expect(await other.next()).toEqual(event);
    }
  });

  it("is stopped once the last has gone, and by no other", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const [one, other] = [await watch(runnerId), await watch(runnerId)];
    await other.next();
    await one.leave();
    scripted.send({ type: "live", report: live() });
    expect((await other.next()).type).toBe("report");
    const asked = scripted.received.filter(({ type }) => type === "liveRequest");
    expect(asked.length).toBeGreaterThan(0);
    for (const request of asked) expect(request).not.toMatchObject({ forMs: 0 });
    await other.leave();
    await vi.waitFor(() => {
      scripted.send({ type: "live", report: live() });
      expect(scripted.received).toContainEqual(expect.objectContaining({ type: "liveRequest", forMs: 0 }));
    }, BOUND);
  });

  it("may go and come back while the stream stays", async () => {
    const runner = await newRunner();
    const watcher = await watch(runner.runnerId);
    expect(await watcher.next()).toEqual({ type: "offline" });
    const first = await ScriptedRunner.online(runner);
    expect(await watcher.next()).toEqual({ type: "online" });
    await first.next("liveRequest");
    first.socket.close(1000, "gone");
    expect(await watcher.next()).toEqual({ type: "offline" });
    const second = await ScriptedRunner.online(runner);
    expect(await watcher.next()).toEqual({ type: "online" });
    await second.next("liveRequest");
    second.send({ type: "live", report: live() });
    expect((await watcher.next()).type).toBe("report");
  });

  it("ends the stream when it is removed", async () => {
    const { runnerId } = await newOnlineRunner();
    const watcher = await watch(runnerId);
    await watcher.next();
    expect((await callEdge("DELETE", `/v1/runners/${runnerId}`)).status).toBe(204);
    await vi.waitFor(() => expect(watcher.isOver).toBe(true), BOUND);
    expect(problemOf(await callEdge("GET", path(runnerId))).code).toBe("not-found");
  });

  it("that reports although no client watches is stopped, and loses nothing by it", async () => {
    const { scripted } = await newOnlineRunner();
    scripted.send({ type: "live", report: live() });
    expect(await scripted.next("liveRequest")).toMatchObject({ forMs: 0 });
    expect(scripted.closed).toBeNull();
  });

  it("that sends a message outside the protocol loses its socket", async () => {
    const { runnerId, scripted } = await newOnlineRunner();
    const watcher = await watch(runnerId);
    await watcher.next();
    scripted.socket.send(JSON.stringify({ type: "live", report: { ...live(), spanMs: -1 } }));
    expect((await scripted.nextClose()).code).toBe(CLOSE_CODES.protocolError);
    expect(await watcher.next()).toEqual({ type: "offline" });
  });
});

describe("who watches", () => {
  it("is one with a key that may read, of a runner that is there", async () => {
    const { runnerId } = await newRunner();
    expect(problemOf(await callEdge("GET", path(missingId.runner))).code).toBe("not-found");
    expect(problemOf(await callEdge("GET", path(runnerId), { key: null })).code).toBe("unauthorized");
    const { secret } = await createKey(["infer"]);
    expect(problemOf(await callEdge("GET", path(runnerId), { key: secret })).code).toBe("forbidden");
    const invalid = await callEdge("GET", path("nobody"));
    expect(problemOf(invalid)).toMatchObject({ code: "invalid-request", errors: [{ pointer: "path/id" }] });
  });

  it("is one of so many; another one's place is free once it has gone", async () => {
    const { runnerId } = await newRunner();
    const all = await Promise.all(Array.from({ length: LIMITS.liveWatchers }, () => watch(runnerId)));
    expect(problemOf(await callEdge("GET", path(runnerId)))).toMatchObject({
      code: "overloaded",
      retryAfterMs: 10_000,
    });
    await all[0]!.next();
    await all[0]!.leave();
    const last = await vi.waitFor(() => watch(runnerId), BOUND);
    expect(await last.next()).toEqual({ type: "offline" });
  });
});
