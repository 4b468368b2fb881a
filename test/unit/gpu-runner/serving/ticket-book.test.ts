import { describe, expect, it } from "vitest";
import { renewKeys, signingKey, signTicket, toTicketKey } from "../../../../src/edge/link/ticket-keys.ts";
import { TicketBook, TicketKeys } from "../../../../src/gpu-runner/serving/direct/tickets.ts";
import { createId } from "../../../../src/protocol/wire/id.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { ProblemError } from "../../../../src/protocol/wire/problem.ts";
import { joinTicket, splitTicket, type TicketGrant, writeGrant } from "../../../../src/protocol/inference/ticket.ts";
import { fromBase64Url } from "../../../../src/protocol/wire/base64url.ts";

/** The edge's clock at the hand-over; the runner's own differs. */
const EDGE_MS = 1_795_000_000_000;
const RUNNER_MS = 5_000;

const grant: TicketGrant = {
  runnerId: createId("runner"),
  placementId: createId("placement"),
  modelVersionId: createId("modelVersion"),
  variant: "fp32",
  deviceKey: "cpu",
  backend: "ort-cpu",
  budgetMs: 20,
  confidence: 0.99,
  priority: 0,
  expiresAtMs: EDGE_MS + LIMITS.ticketMs,
  nonce: "abc",
};

/** Both ends after the edge has handed over a key. */
function handOver() {
  const [key] = renewKeys([], EDGE_MS) ?? [];
  if (key === undefined) throw new Error("no key was made");
  const keys = new TicketKeys();
  keys.take(toTicketKey(key, EDGE_MS), RUNNER_MS);
  const read = (authorization: string | undefined, nowMs = RUNNER_MS, runnerId = grant.runnerId) =>
    new TicketBook(keys, runnerId).use(authorization, nowMs);
  return { key, keys, read };
}

function codeOf(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    expect(error.problem.errors?.map(({ pointer }) => pointer)).toEqual(["header/authorization"]);
    return error.problem.code;
  }
}

describe("a ticket", () => {
  it("that the edge signed is read by the runner", async () => {
    const { key, read } = handOver();
    const ticket = await signTicket(key, grant);
    expect(ticket.length).toBeLessThan(LIMITS.ticketLength);
    expect(read(`Bearer ${ticket}`)).toEqual(grant);
  });

  it("has the layout of docs/protocol.md", async () => {
    const key = { keyId: "00112233445566ff", secret: Buffer.alloc(32, 7).toString("base64url"), madeAtMs: 0 };
    const fixed = { ...grant, runnerId: `rnr_${"0".repeat(26)}`, placementId: `plc_${"0".repeat(26)}` };
    const ticket = await signTicket(key, { ...fixed, modelVersionId: `ver_${"0".repeat(26)}` });
    expect(ticket).toMatch(/^mx_00112233445566ff\.[\w-]+\.[\w-]{43}$/);
    // By Python's hmac, hashlib and base64.
    expect(ticket.slice(-43)).toBe("spxTUJmKth_5DOhn-ZvreJsC-ES8tAf9CXXxelpAk6s");
  });

  it("with any field changed is refused", async () => {
    const { key, read: readNow } = handOver();
    const ticket = await signTicket(key, grant);
    const mac = splitTicket(ticket)?.mac ?? new Uint8Array();
    const changes: { [Field in keyof TicketGrant]: TicketGrant[Field] } = {
      runnerId: createId("runner"),
      placementId: createId("placement"),
      modelVersionId: createId("modelVersion"),
      variant: "int8",
      deviceKey: "gpu0",
      backend: "ort-webgpu",
      budgetMs: 21,
      confidence: 0.5,
      priority: 9,
      expiresAtMs: grant.expiresAtMs + 1,
      nonce: "abd",
    };
    expect(Object.keys(changes).toSorted()).toEqual(Object.keys(grant).toSorted());
    const read = (text: string) => codeOf(() => readNow(`Bearer ${text}`));
    for (const [field, value] of Object.entries(changes)) {
      expect(read(joinTicket(writeGrant(key.keyId, { ...grant, [field]: value }), mac)), field).toBe("unauthorized");
    }
    expect(read(ticket)).toBeNull();
  });

  it("with any character changed is refused", async () => {
    const { key, read } = handOver();
    const ticket = await signTicket(key, grant);
    for (let place = 0; place < ticket.length; place++) {
      for (const other of ["A", "B"].filter((each) => each !== ticket[place])) {
        const changed = ticket.slice(0, place) + other + ticket.slice(place + 1);
        expect(
          codeOf(() => read(`Bearer ${changed}`)),
          changed,
        ).toBe("unauthorized");
      }
    }
  });

  it("that is none, of another key or for another runner is refused", async () => {
    const { key, read: readAt } = handOver();
    const [stranger] = renewKeys([], EDGE_MS) ?? [];
    if (stranger === undefined) throw new Error("no key was made");
    const read = (authorization: string | undefined, runnerId = grant.runnerId) =>
      codeOf(() => readAt(authorization, RUNNER_MS, runnerId));
    const ticket = await signTicket(key, grant);
    expect(read(undefined)).toBe("unauthorized");
    expect(read(ticket)).toBe("unauthorized");
    expect(read(`Bearer ${ticket}x`)).toBe("unauthorized");
    expect(read(`Bearer mx_${"A".repeat(LIMITS.ticketLength)}`)).toBe("unauthorized");
    expect(read(`Bearer ${await signTicket(stranger, grant)}`)).toBe("unauthorized");
    // The id of a key that is known does not help a secret that is not.
    expect(read(`Bearer ${await signTicket({ ...stranger, keyId: key.keyId }, grant)}`)).toBe("unauthorized");
    expect(read(`Bearer ${ticket}`, createId("runner"))).toBe("unauthorized");
    // Signed, and still not of the protocol.
    expect(read(`Bearer ${await signTicket(key, { ...grant, backend: "none" as never })}`)).toBe("unauthorized");
    expect(read(`Bearer ${ticket}`)).toBeNull();
  });

  it("ends on the edge's clock, whatever the runner's says", async () => {
    const { key, keys } = handOver();
    const book = new TicketBook(keys, grant.runnerId);
    const ticket = await signTicket(key, grant);
    // By one book, that knows the ticket from before.
    const readAfter = (ms: number) => codeOf(() => book.use(`Bearer ${ticket}`, RUNNER_MS + ms));
    expect(readAfter(LIMITS.ticketMs - 1)).toBeNull();
    expect(readAfter(LIMITS.ticketMs)).toBe("ticket-expired");
  });
});

describe("the keys of a runner", () => {
  const HOUR_MS = 3_600_000;

  it("are renewed after an hour, and the new one signs once it must have arrived", () => {
    const first = renewKeys([], 0) ?? [];
    expect(first).toHaveLength(1);
    expect(signingKey(first, 0)).toBe(first[0]);
    expect(renewKeys(first, HOUR_MS - 1)).toBeNull();
    const second = renewKeys(first, HOUR_MS) ?? [];
    expect(second).toHaveLength(2);
    expect(second[0]?.secret).not.toBe(first[0]?.secret);
    expect(signingKey(second, HOUR_MS)).toBe(first[0]);
    expect(signingKey(second, HOUR_MS + 4_999)).toBe(first[0]);
    expect(signingKey(second, HOUR_MS + 5_000)).toBe(second[0]);
    const third = renewKeys(second, 2 * HOUR_MS) ?? [];
    expect(third.map(({ keyId }) => keyId)).toEqual([third[0]?.keyId, second[0]?.keyId]);
    expect(signingKey([], 0)).toBeUndefined();
  });

  it("are random: 256 bits, and an id of 64", () => {
    const [key] = renewKeys([], 0) ?? [];
    expect(fromBase64Url(key?.secret ?? "")).toHaveLength(32);
    expect(key?.keyId).toMatch(/^[0-9a-f]{16}$/);
  });

  it("are kept by the runner as long as tickets of them may live, however many come", () => {
    const keys = new TicketKeys();
    const secret = "A".repeat(43);
    const take = (keyId: string, nowMs: number) => keys.take({ keyId, secret, atMs: 0 }, nowMs);
    const held = () => ["1", "2", "3", "4"].filter((keyId) => keys.find(keyId) !== null);
    take("1", 0);
    take("2", 3_600_000);
    take("3", 3_600_000 + LIMITS.maxTicketMs);
    expect(held()).toEqual(["1", "2", "3"]);
    take("4", 3_610_000 + LIMITS.maxTicketMs);
    expect(held()).toEqual(["2", "3", "4"]);
  });
});

describe("the uses of tickets", () => {
  it("are counted, each ticket by itself, however its header is written", async () => {
    const { key, keys } = handOver();
    const book = new TicketBook(keys, grant.runnerId);
    const [one, other] = [await signTicket(key, grant), await signTicket(key, { ...grant, nonce: "abd" })];
    for (let i = 0; i < LIMITS.ticketRequests; i++) book.use(`Bearer ${one}`, RUNNER_MS);
    for (const header of [`Bearer ${one}`, `bearer  ${one}`]) {
      expect(codeOf(() => book.use(header, RUNNER_MS))).toBe("ticket-expired");
    }
    expect(book.use(`Bearer ${other}`, RUNNER_MS).nonce).toBe("abd");
  });

  it("are held of so many tickets at once, and forgotten when a ticket has ended", async () => {
    const { key, keys } = handOver();
    const book = new TicketBook(keys, grant.runnerId);
    const sign = (nonce: string, lifeMs: number) => signTicket(key, { ...grant, nonce, expiresAtMs: EDGE_MS + lifeMs });
    const use = async (nonce: string, lifeMs: number, atMs: number) =>
      book.use(`Bearer ${await sign(nonce, lifeMs)}`, RUNNER_MS + atMs);
    for (let i = 0; i < LIMITS.ticketsHeld; i++) await use(String(i), 1_000 + i, 0);
    await expect(use("more", 9_000, 999)).rejects.toThrow(`${LIMITS.ticketsHeld} tickets`);
    await use("more", 9_000, 1_000);
    await expect(use("another", 9_000, 1_000)).rejects.toThrow(`${LIMITS.ticketsHeld} tickets`);
  });
});
