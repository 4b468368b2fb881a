import { expect, it, vi } from "vitest";
import { FRAMES, INBOUND, PROGRESS_MESSAGES, TALK, TEXTS } from "../../../../src/edge/link/find-excess.ts";
import { noteClose } from "../../../../src/edge/link/keep-connection.ts";
import { createInFlight } from "../../../../src/edge/link/in-flight.ts";
import { createMemory, type LinkParts } from "../../../../src/edge/link/link-parts.ts";
import { LONG_TEXT } from "../../../../src/edge/link/long-text.ts";
import { receive } from "../../../../src/edge/link/receive-message.ts";
import type { LinkSocket } from "../../../../src/edge/link/runner-socket.ts";
import type { PassedOutcome } from "../../../../src/edge/queue/queue-rpc.ts";
import { CLOSE_CODES } from "../../../../src/protocol/link.ts";
import { encodeFrame } from "../../../../src/protocol/wire/frame.ts";
import { createId } from "../../../../src/protocol/wire/id.ts";
import { LIMITS } from "../../../../src/protocol/wire/limits.ts";
import { createProblem } from "../../../../src/protocol/wire/problem.ts";
import { benchmarkResult } from "../../../edge/stack/samples.ts";

/** A link whose clock stands still, and which hears answers, progress and talk alone. */
function createLink(): LinkParts {
  const inFlight = createInFlight({ now: () => 0, after: () => () => {} });
  const queue = () => ({ progress: async () => {} });
  const outside = { now: () => 1_000_000, later: () => {}, queue, beginTurn: async () => () => {} };
  return { memory: createMemory(), inFlight, outside } as unknown as LinkParts;
}

/** A link and the results that the queue behind it was given; it settles none before it is told. */
function createPassing() {
  const link = createLink();
  const results: (string | undefined)[] = [];
  const told = Promise.withResolvers<void>();
  const settle = async (_runnerId: string, { outcome }: PassedOutcome) => {
    if (outcome.ok) results.push(outcome.resultText);
    await told.promise;
    return true;
  };
  return { link: { ...link, outside: { ...link.outside, queue: () => ({ settle }) } } as LinkParts, results, told };
}

/** A socket that remembers why it was closed. */
class Socket implements LinkSocket {
  readyState: number = WebSocket.OPEN;
  reasons: string[] = [];
  sent = 0;

  send(): void {
    this.sent++;
  }

  close(_code: number, reason: string): void {
    this.readyState = WebSocket.CLOSING;
    this.reasons.push(reason);
  }

  serializeAttachment(): void {}

  deserializeAttachment(): unknown {
    return { connectionId: "c", runnerId: "r", acceptedAtMs: 0, isWelcomed: true };
  }
}

async function tell(link: LinkParts, message: string | ArrayBuffer, count: number, socket = new Socket()) {
  for (let index = 0; index < count; index++) await receive(link, socket, message);
  return socket;
}

const refusal = JSON.stringify({
  type: "inferFailed",
  requestId: createId("request"),
  problem: createProblem("overloaded", "full"),
});

it("closes a socket for too many messages, whatever they are, and reads nothing of it afterwards", async () => {
  const link = createLink();
  const socket = await tell(link, refusal, INBOUND.burst);
  expect(socket.reasons).toEqual([]);
  await tell(link, "not even JSON", 3, socket);
  expect(socket.reasons).toEqual([`more than ${INBOUND.perSecond} messages a second`]);
});

it.each([
  ["answers, whose number callers choose, is no fault", refusal, INBOUND.burst, 0],
  ["its own is one", '{"type":"echo","id":1}', TALK.burst, 1],
])("an end for too many messages that are %s", async (_, message, allowed, faults) => {
  const link = createLink();
  const socket = await tell(link, message, allowed + 1);
  const runnerFlapped = vi.fn<() => Promise<void>>();
  const outside = {
    ...link.outside,
    sockets: () => [],
    connected: { read: async () => "r", clear: async () => {} },
    records: { disconnected: async () => {} },
    queue: () => ({ runnerDisconnected: async () => {}, runnerFlapped }),
  };
  const ended = { ...link, outside, listeners: { disconnected: () => {} } } as unknown as LinkParts;
  await noteClose(ended, socket, CLOSE_CODES.protocolError);
  expect(runnerFlapped).toHaveBeenCalledTimes(faults);
});

it("counts a runner's messages whichever socket they come on", async () => {
  const link = createLink();
  await tell(link, refusal, INBOUND.burst);
  expect((await tell(link, refusal, 1)).reasons).toEqual([`more than ${INBOUND.perSecond} messages a second`]);
});

it("closes a socket for too long texts before it parses them", async () => {
  const link = createLink();
  const text = "[".padEnd(LIMITS.outcomeTextLength);
  for (let sent = 0; sent + text.length <= TEXTS.burst; sent += text.length) {
    expect((await tell(link, text, 1)).reasons).toEqual(["the message is not JSON"]);
  }
  expect((await tell(link, text, 1)).reasons).toEqual([`more than ${TEXTS.perSecond} characters a second`]);
});

it("closes a socket for a text of too many values, those in strings aside", async () => {
  const link = createLink();
  const list = (length: number) => `[${"0,".repeat(length)}0]`;
  const trace = JSON.stringify(list(LIMITS.jsonValues + 1));
  for (const [text, reason] of [
    [`{"type":"tirade","trace":${trace}}`, []],
    [`{"type":"tirade","list":${list(LIMITS.jsonValues + 1)}}`, [`more than ${LIMITS.jsonValues} values`]],
    ["[".padEnd(LIMITS.outcomeTextLength + 1), ["the message is too large"]],
  ] as const)
    expect((await tell(link, text, 1)).reasons).toEqual(reason);
});

it("closes a socket for too many bytes of answers", async () => {
  const bytes = new Uint8Array(LIMITS.socketMessageBytes - 65_536);
  const tensor = { name: "y", dtype: "uint8" as const, shape: [bytes.length], bytes };
  const frame = encodeFrame({ type: "inferResult", requestId: createId("request") }, [tensor]).slice().buffer;
  const link = createLink();
  const most = Math.floor(FRAMES.burst / frame.byteLength);
  const socket = await tell(link, frame, most);
  expect(socket.reasons).toEqual([]);
  await tell(link, frame, 1, socket);
  expect(socket.reasons).toEqual([`more than ${FRAMES.perSecond} bytes a second`]);
});

const lease = { jobId: createId("job"), epoch: 1 };
it.each([
  ["echoes", '{"type":"echo","id":1}', TALK, "small messages"],
  ["messages that nobody knows", '{"type":"tirade"}', TALK, "small messages"],
  [
    "messages of progress",
    JSON.stringify({ type: "jobProgress", lease, progress: { phase: "run", done: 1, total: 2 } }),
    PROGRESS_MESSAGES,
    "progress",
  ],
])("closes a socket for too many %s", async (_, message, { perSecond, burst }, named) => {
  const link = createLink();
  const socket = await tell(link, message, burst);
  expect(socket.reasons).toEqual([]);
  await tell(link, message, 1, socket);
  expect(socket.reasons).toEqual([
    expect.stringMatching(new RegExp(`^(more than ${perSecond} ${named}|${named} more)`)),
  ]);
});

it("passes a failure on at once, which its runner sends once, also where the socket closes behind it", async () => {
  const { link, told } = createPassing();
  const settled = vi.fn<() => Promise<boolean>>(async () => true);
  const late = { ...link.outside, beginTurn: () => new Promise<never>(() => {}), queue: () => ({ settle: settled }) };
  const socket = new Socket();
  const outcome = { ok: false, problem: createProblem("runner-lost", "It was stopped.") };
  const received = receive(
    { ...link, outside: late } as never,
    socket,
    JSON.stringify({ type: "jobOutcome", lease, outcome }),
  );
  socket.close(1000, "");
  await received;
  expect(settled).toHaveBeenCalledTimes(1);
  told.resolve();
});

it("passes long outcomes on one after the other, each result as JSON, and leaves those that come again behind", async () => {
  const { link, results, told } = createPassing();
  const socket = new Socket();
  const { environment } = benchmarkResult();
  const claim = { claim: "subgroups", claimed: "yes", found: "yes", ok: true };
  const result = { kind: "probe", ok: true, claims: [claim], environment };
  const outcome = { ok: true, result, deviceKey: "gpu0", startedAt: "2026-11-21T09:30:00.000Z" };
  const trace = "[".padEnd(LONG_TEXT);
  const text = JSON.stringify({ type: "jobOutcome", lease, outcome: { ...outcome, trace } });
  const received = Promise.all(Array.from({ length: 9 }, () => receive(link, socket, text)));
  await vi.waitFor(() => expect(results).toEqual([JSON.stringify(result)]), 30_000);
  told.resolve();
  await received;
  expect(results.length).toBeLessThanOrEqual(2);
  expect(socket.reasons).toEqual([]);
  expect(socket.sent).toBe(results.length);
});
