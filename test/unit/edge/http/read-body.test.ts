import { describe, expect, it, onTestFinished, vi } from "vitest";
import { bodyPlaces, withBodyRoom } from "../../../../src/edge/http/body-room.ts";
import { discardBody, parseJson, parseLongJson, readBody } from "../../../../src/edge/http/read-body.ts";
import { threadShares } from "../../../../src/edge/turns.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";

/** Turns as for a second behind an inference, until the end of the test, however long that is for this machine. */
function takeShortTurns(): void {
  const urgent = vi.spyOn(threadShares, "hadUrgent").mockReturnValue(true);
  onTestFinished(() => urgent.mockRestore());
}

const encode = (text: string) => new TextEncoder().encode(text);
const numbers = (count: number) => encode(`[${"0,".repeat(count - 1)}0]`);

describe("JSON in a body", () => {
  it("may have many values, and not so many that parsing them holds up others", () => {
    expect(parseJson(numbers(LIMITS.jsonValues + 1))).toHaveLength(LIMITS.jsonValues + 1);
    expect(() => parseJson(numbers(LIMITS.jsonValues + 2))).toThrow(`has more than ${LIMITS.jsonValues} commas`);
  });

  it("may have many objects, and not so many that they fill the memory", () => {
    const objects = (count: number) => encode(`[${"{},".repeat(count - 2)}{}]`.padEnd(LIMITS.jsonBodyBytes + 1));
    expect(parseJson(objects(LIMITS.jsonNodes))).toHaveLength(LIMITS.jsonNodes - 1);
    expect(() => parseJson(objects(LIMITS.jsonNodes + 1))).toThrow("objects, arrays and fields");
  });

  it.each([
    ["that is long ends the turn before it and behind it", LIMITS.jsonBodyBytes, 2],
    ["that is short ends no turn", 1_000, 0],
  ])("%s", async (_, count, turns) => {
    let others = 0;
    const timer = setInterval(() => others++, 0);
    await parseLongJson(new Request("http://edge.test"), numbers(count));
    clearInterval(timer);
    expect(others).toBeGreaterThanOrEqual(turns);
    if (turns === 0) expect(others).toBe(0);
  });
});

it("a body of unknown length comes as it is, in turns", async () => {
  const body = Uint8Array.from({ length: 4 * 2 ** 20 }, (_, at) => at % 251);
  const request = () => new Request("http://edge.test", { method: "POST", body });
  takeShortTurns();
  const timers = vi.spyOn(globalThis, "setTimeout");
  expect(Buffer.compare(await readBody(request(), body.length), body)).toBe(0);
  expect(timers.mock.calls.length).toBeGreaterThanOrEqual(4);
  timers.mockRestore();
  await expect(readBody(request(), body.length - 1)).rejects.toThrow("must be at most");
});

it("a body in chunks of a byte comes as it is, in turns", async () => {
  const body = Uint8Array.from({ length: 10_000 }, (_, at) => at % 251);
  let sent = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent === body.length) controller.close();
      else controller.enqueue(body.slice(sent, ++sent));
    },
  });
  takeShortTurns();
  const timers = vi.spyOn(globalThis, "setTimeout");
  const request = new Request("http://edge.test", { method: "POST", body: stream, duplex: "half" } as RequestInit);
  expect(await readBody(request, body.length)).toEqual(body);
  expect(timers.mock.calls.length).toBeGreaterThanOrEqual(10);
  timers.mockRestore();
});

function streamOf(pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void, cancel = () => undefined) {
  const body = new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 });
  return (headers: Record<string, string> = {}) =>
    new Request("http://edge.test", { method: "POST", headers, body, duplex: "half" } as RequestInit);
}

describe("a body that comes slowly", () => {
  it("is read for five minutes", async () => {
    vi.useFakeTimers();
    const read = readBody(streamOf(() => undefined)(), 1_000).catch(String);
    await vi.advanceTimersByTimeAsync(300_000);
    vi.useRealTimers();
    expect(await read).toContain("must come within 5 minutes");
  });

  it("and is unwanted is read for ten seconds", async () => {
    vi.useFakeTimers();
    let isCut = false;
    const discarded = discardBody(
      streamOf(
        () => undefined,
        () => void (isCut = true),
      )(),
    );
    await vi.advanceTimersByTimeAsync(9_999);
    expect(isCut).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    vi.useRealTimers();
    await discarded;
    expect(isCut).toBe(true);
  });
});

describe("a long body that is refused for overload", () => {
  const MIB = 2 ** 20;
  const overload = new ProblemError("overloaded", "There is no room.");

  it.each([
    ["is cut", { "content-length": String(8 * MIB) }, overload, 0],
    ["is cut after a mebibyte where its length is not said", {}, overload, MIB + 65_536],
    [
      "is read to its end where it is refused for something else",
      { "content-length": String(8 * MIB) },
      undefined,
      8 * MIB,
    ],
  ])("%s", async (_, headers, error, bytes) => {
    let sent = 0;
    const request = streamOf((controller) => {
      if (sent === 8 * MIB) return controller.close();
      controller.enqueue(new Uint8Array(65_536));
      sent += 65_536;
    })(headers);
    await discardBody(request, error);
    expect(sent).toBe(bytes);
  });
});

describe("a body of unknown length", () => {
  const { working } = bodyPlaces;
  const MIB = 2 ** 20;
  const call = { project: "a", waitMs: 0, waitUntil: () => undefined };
  const hasRoom = (bytes: number) => working.hasRoom("a", Date.now(), bytes);
  /** Sends a MiB, and notes how much room it has at least after each part. */
  function send(cut = () => undefined) {
    const had: boolean[] = [];
    let sent = 0;
    const request = streamOf((controller) => {
      had.push(!hasRoom(32 * MIB - sent + 1));
      if (sent === MIB) return controller.close();
      controller.enqueue(new Uint8Array(65_536));
      sent += 65_536;
    }, cut)();
    return { request, had };
  }

  it("has room for what has come until its request is answered", async () => {
    const { request, had } = send();
    await withBodyRoom(request, call, async () => {
      expect((await readBody(request, 8 * MIB)).byteLength).toBe(MIB);
      expect([hasRoom(31 * MIB + 1), hasRoom(31 * MIB)]).toEqual([false, true]);
    });
    expect(had.slice(1)).toEqual(Array.from({ length: 16 }, () => true));
    expect(hasRoom(32 * MIB)).toBe(true);
  });

  it.each([
    ["none", 32 * MIB],
    ["no more", 32 * MIB - 300_000],
  ])("is cut, and refused for overload, where there is %s", async (_, taken) => {
    const place = working.enter("a", Date.now(), taken)!;
    let isCut = false;
    const { request } = send(() => void (isCut = true));
    const read = withBodyRoom(request, call, () => readBody(request, 8 * MIB));
    await expect(read).rejects.toMatchObject({ problem: { code: "overloaded" } });
    working.leave(place);
    expect([isCut, hasRoom(32 * MIB)]).toEqual([true, true]);
  });
});
