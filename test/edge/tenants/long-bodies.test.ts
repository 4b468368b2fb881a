import { describe, expect, it } from "vitest";
import { bodyPlaces } from "../../../src/edge/http/body-room.ts";
import { LIMITS } from "../../../src/protocol/wire/limits.ts";
import { packBody } from "../../../src/protocol/wire/content-encoding.ts";
import { callEdge, createProject, problemOf, type Sent } from "../stack/edge-client.ts";

const { working } = bodyPlaces;
const MIB = 2 ** 20;
const JSON_TYPE = { "content-type": "application/json" };

let opened = 0;
const open = () => createProject(`sender-${opened++}`);

/** An inference of so many bytes for a model that does not exist. */
function write(bytes: number): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify({ model: "nobody", budgetMs: 60_000, inputs: { x: { data: [1] } } });
  return new Uint8Array(new TextEncoder().encode(text.padEnd(bytes)));
}

const ask = (key: string, body: Uint8Array<ArrayBuffer> | ReadableStream, sent: Sent = {}) =>
  callEdge("POST", "/v1/infer", { key, body, ...sent, headers: { ...JSON_TYPE, ...sent.headers } });

/** Room of a holder in MiB, which is given back. */
function roomOf(holder: string): number {
  const taken: object[] = [];
  for (let place = working.enter(holder, Date.now(), MIB); place !== null;) {
    taken.push(place);
    place = working.enter(holder, Date.now(), MIB);
  }
  for (const place of taken) working.leave(place);
  return taken.length;
}

describe("long bodies of a project", () => {
  it("are refused where they have no room, and short ones and those of another project are read", async () => {
    const [{ project, secret }, { secret: stranger }] = [await open(), await open()];
    const place = working.enter(project, Date.now(), 32 * MIB)!;
    const refused = await ask(secret, write(100_000));
    const { code, retryAfterMs, detail } = problemOf(refused);
    expect([refused.status, code, retryAfterMs]).toEqual([503, "overloaded", 1_000]);
    expect(detail).toContain(`long bodies of ${project}`);
    expect((await ask(secret, write(1_000))).status).toBe(404);
    expect((await ask(stranger, write(100_000))).status).toBe(404);
    working.leave(place);
    expect((await ask(secret, write(100_000))).status).toBe(404);
  });

  it("are refused also where their length is not said, or they are packed", async () => {
    const { project, secret } = await open();
    const place = working.enter(project, Date.now(), 32 * MIB)!;
    const packed = await packBody(write(MIB), "gzip");
    expect(packed.byteLength).toBeLessThan(10_000);
    const askPacked = () => ask(secret, packed, { headers: { "content-encoding": "gzip" } });
    const askStreamed = () => ask(secret, new Blob([write(MIB)]).stream());
    expect(problemOf(await askPacked()).code).toBe("overloaded");
    expect(problemOf(await askStreamed()).code).toBe("overloaded");
    working.leave(place);
    expect([(await askPacked()).status, (await askStreamed()).status]).toEqual([404, 404]);
  });

  it("wait for room, if they are no inference", async () => {
    const { project, secret } = await open();
    const place = working.enter(project, Date.now(), 32 * MIB)!;
    let isAnswered = false;
    const body = write(LIMITS.jsonBodyBytes);
    const sent = callEdge("POST", "/v1/jobs", { key: secret, body, headers: JSON_TYPE }).finally(
      () => (isAnswered = true),
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(isAnswered).toBe(false);
    working.leave(place);
    expect(problemOf(await sent).code).toBe("invalid-request");
  });

  it("give their room back, also where they are refused", async () => {
    const { project, secret } = await open();
    expect(roomOf(project)).toBe(32);
    const packed = await packBody(write(MIB), "gzip");
    const bodies = [write(8 * MIB), write(8 * MIB + 1), new Uint8Array(MIB)];
    for (const body of [...bodies, ...bodies]) expect((await ask(secret, body)).status).toBeGreaterThanOrEqual(400);
    expect((await ask(secret, packed, { headers: { "content-encoding": "gzip" } })).status).toBe(404);
    expect(roomOf(project)).toBe(32);
  });
});
