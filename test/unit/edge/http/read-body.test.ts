import { describe, expect, it, vi } from "vitest";
import { parseJson, parseLongJson, readBody } from "../../../../src/edge/http/read-body.ts";
import { threadShares } from "../../../../src/edge/turns.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";

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
  threadShares.beginUrgent()();
  const timers = vi.spyOn(globalThis, "setTimeout");
  expect(await readBody(request(), body.length)).toEqual(body);
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
  threadShares.beginUrgent()();
  const timers = vi.spyOn(globalThis, "setTimeout");
  const request = new Request("http://edge.test", { method: "POST", body: stream, duplex: "half" } as RequestInit);
  expect(await readBody(request, body.length)).toEqual(body);
  expect(timers.mock.calls.length).toBeGreaterThanOrEqual(10);
  timers.mockRestore();
});
