import { afterAll, describe, expect, it, vi } from "vitest";
import { packBody } from "../../../src/protocol/wire/content-encoding.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { callEdge, createProject, fetchEdge, ORIGIN, problemOf } from "../stack/edge-client.ts";
import { BOUND } from "../stack/runner-script.ts";
import { exports } from "cloudflare:workers";

const HEADERS = { "content-type": "application/json", "content-encoding": "gzip" };

/** An inference of a model that nobody has, of so many bytes of JSON, packed. */
function packRequest(bytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const text = `{"model":"nobody","budgetMs":60000,"inputs":{"x":{"data":[${"0,".repeat(bytes / 2 - 40)}0]}}}`;
  return packBody(Uint8Array.from(new TextEncoder().encode(text)), "gzip");
}

const HELD_BYTES = 0.9375 * LIMITS.inferBodyBytes;
const ends: (() => void)[] = [];

/** Sends all of a large body but its end; ends once that was read. */
function holdBody(key: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let pulls = 0;
  const source: UnderlyingSource<Uint8Array> = {
    pull(controller: ReadableStreamDefaultController<Uint8Array>) {
      if (++pulls > 1) return resolve();
      controller.enqueue(new Uint8Array(HELD_BYTES));
      ends.push(() => controller.close());
    },
  };
  const body = new ReadableStream(source, { highWaterMark: 0 });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const held = exports.default.fetch(new URL("/v1/infer", ORIGIN).href, { method: "POST", body, headers });
  void held.then((response) => response.text());
  return promise;
}

describe("bodies of one project", () => {
  afterAll(() => ends.forEach((end) => end()));

  it("are refused while others of it fill its share of the memory, and another project's are read", async () => {
    const { secret: greedy } = await createProject("greedy");
    const { secret: modest } = await createProject("modest");
    const large = await packRequest(LIMITS.inferBodyBytes);
    const small = await packRequest(LIMITS.jsonBodyBytes);
    const ask = (key: string, body: Uint8Array) => callEdge("POST", "/v1/infer", { key, body, headers: HEADERS });
    expect(problemOf(await ask(greedy, large)).code).toBe("not-found");

    for (let count = 0; count < 3; count++) await holdBody(greedy);
    await vi.waitFor(async () => {
      const refused = await ask(greedy, large);
      expect(problemOf(refused)).toMatchObject({ code: "overloaded", retryAfterMs: 250 });
      expect(refused.headers.get("retry-after")).toBe("1");
    }, BOUND);
    expect(problemOf(await ask(modest, small)).code).toBe("not-found");
    const declared = { key: greedy, body: new Uint8Array(LIMITS.inferBodyBytes) };
    expect(
      (await fetchEdge("POST", "/v1/infer", { ...declared, headers: { "content-type": "application/json" } })).status,
    ).toBe(503);

    for (const end of ends.splice(0)) end();
    await vi.waitFor(async () => expect(problemOf(await ask(greedy, large)).code).toBe("not-found"), BOUND);
  });
});
