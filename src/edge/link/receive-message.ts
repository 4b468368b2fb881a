import type { Capabilities } from "../../protocol/fleet/hardware.ts";
import {
  checkMessage,
  CLOSE_CODES,
  type HealthMessage,
  type JobOutcome,
  type Lease,
  type ParsedText,
  parseText,
  readText,
  ResultHead,
  RunnerMessage,
} from "../../protocol/link.ts";
import { decodeFrame } from "../../protocol/wire/frame.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { toProblem } from "../../protocol/wire/problem.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import { isSoundReport } from "../history/soundness.ts";
import { cancelLeases } from "./ask-runner.ts";
import { countInbound, countOutcomes, countTalk, findExcess, mayWait } from "./find-excess.ts";
import { closeSocket, endRunner, recordOutcomes } from "./keep-connection.ts";
import type { LinkParts } from "./link-parts.ts";
import { hasTooManyValues, isLong, placesFor } from "./long-text.ts";
import { attach, attachmentOf, handOverTicketKey, type LinkSocket, sendMessage } from "./runner-socket.ts";
import { logFailure } from "../log-failure.ts";
import { TOO_LARGE } from "../queue/keep-result.ts";
import type { PassedOutcome } from "../queue/queue-rpc.ts";
import { endTurn } from "../turns.ts";

/** Handles a text or a frame from the runner. */
export async function receive(link: LinkParts, socket: LinkSocket, message: string | ArrayBuffer): Promise<void> {
  // Of a socket that the edge has closed, more may come for as long as the runner likes.
  if (socket.readyState !== WebSocket.OPEN) return;
  const end = (reason: string) => closeSocket(link, socket, CLOSE_CODES.protocolError, reason);
  const tooMuch = countInbound(link, message);
  if (tooMuch !== null) {
    // Most are answers, and callers choose how many and how long.
    link.memory.excused.add(socket);
    return end(tooMuch);
  }
  if (typeof message !== "string") return receiveFrame(link, socket, new Uint8Array(message));
  if (isLong(message)) return receiveLong(link, socket, message);
  if (message.length > SHORT_TEXT && message.startsWith(DIRECT_OUTCOMES)) {
    const excess = countOutcomes(link);
    return excess === null ? receiveInTurn(link, socket, message) : end(excess);
  }
  await receiveParsed(link, socket, parseText(RunnerMessage, message), message.length);
}

/** As our runners write it, whose type comes first. A thousand outcomes take ten milliseconds to read. */
const DIRECT_OUTCOMES = '{"type":"directOutcomes"';
const SHORT_TEXT = 8_192;

/** Handles a message that may be lost in its turn on the thread. */
async function receiveInTurn(link: LinkParts, socket: LinkSocket, text: string): Promise<void> {
  const leave = await link.outside.beginTurn(attachmentOf(socket).project ?? "").catch(dropIfOverloaded);
  if (leave === null) return;
  try {
    if (socket.readyState === WebSocket.OPEN)
      await receiveParsed(link, socket, parseText(RunnerMessage, text), text.length, true);
  } finally {
    leave();
  }
}

/** Drops work that was refused because too much waits; throws any other error. */
function dropIfOverloaded(error: unknown): null {
  if (toProblem(error).code === "overloaded") return null;
  throw error;
}

/** Handles a long text in turns: to parse, to check and to pass on megabytes takes some ten milliseconds each. */
async function receiveLong(link: LinkParts, socket: LinkSocket, text: string): Promise<void> {
  if (text.length > LIMITS.outcomeTextLength)
    return closeSocket(link, socket, CLOSE_CODES.protocolError, "the message is too large");
  const { project = "" } = attachmentOf(socket);
  const read = async () => {
    const leave = await link.outside.beginTurn(project);
    try {
      if (await hasTooManyValues(text, endTurn))
        return closeSocket(link, socket, CLOSE_CODES.protocolError, `more than ${LIMITS.jsonValues} values`);
      await endTurn();
      const json = readText(text);
      await endTurn();
      const parsed = json.ok ? checkMessage(RunnerMessage, json.json) : json;
      await endTurn();
      await receiveParsed(link, socket, parsed, text.length, true);
    } finally {
      leave();
    }
  };
  // Without a place it is dropped: an outcome comes again.
  const call = { project, waitUntil: (work: Promise<unknown>) => link.outside.later(work) };
  await placesFor(text).doIn(call, read).catch(dropIfOverloaded);
}

async function receiveParsed(
  link: LinkParts,
  socket: LinkSocket,
  parsed: ParsedText<RunnerMessage>,
  length: number,
  isInTurn = false,
): Promise<void> {
  const end = (reason: string) => closeSocket(link, socket, CLOSE_CODES.protocolError, reason);
  if (!parsed.ok) {
    const reason = parsed.unknownType === undefined ? parsed.reason : countTalk(link);
    return reason === null ? logUnknown(link, parsed.unknownType ?? "") : end(reason);
  }
  const isCounted = isInTurn && parsed.message.type === "directOutcomes";
  const excess = findExcess(link, socket, parsed.message, length, isCounted);
  if (excess !== null) return excess.reason === null ? undefined : end(excess.reason);
  let leave = () => {};
  try {
    const { project = "" } = attachmentOf(socket);
    if (!isInTurn && mayWait(parsed.message)) leave = await link.outside.beginTurn(project);
    // An outcome is settled although its runner has gone meanwhile.
    if (socket.readyState !== WebSocket.OPEN && parsed.message.type !== "jobOutcome") return;
    await receiveMessage(link, socket, parsed.message);
  } catch (error) {
    // The runner repeats essential messages: hello after a reconnect, outcomes of jobs until they are settled. Outcomes
    // of direct requests may be lost, like some measurements, and so may whatever has waited for too long.
    if (toProblem(error).code !== "overloaded") logFailure("link-message-failed", error, { type: parsed.message.type });
    if (parsed.message.type === "hello") closeSocket(link, socket, 1011, toProblem(error).code);
  } finally {
    leave();
  }
}

function receiveFrame(link: LinkParts, socket: LinkSocket, frame: Uint8Array): void {
  const decoded = frame.byteLength > LIMITS.socketMessageBytes ? null : decodeFrame(frame);
  // The waiting Worker parses the rest.
  const head = decoded?.ok ? ResultHead.safeParse(decoded.header) : null;
  if (!head?.success) return closeSocket(link, socket, CLOSE_CODES.protocolError, "not a frame of the protocol");
  link.inFlight.infer.answer(head.data.requestId, attachmentOf(socket).connectionId, frame);
}

/** A newer runner may send unknown messages; each type is logged once, since it may come every second. */
function logUnknown({ memory }: LinkParts, type: string): void {
  if (memory.hasLoggedUnknown) return;
  memory.hasLoggedUnknown = true;
  console.warn(JSON.stringify({ event: "link-message-unknown", type }));
}

async function receiveMessage(link: LinkParts, socket: LinkSocket, message: RunnerMessage): Promise<void> {
  const { inFlight, outside } = link;
  const { records } = outside;
  const { runnerId, connectionId } = attachmentOf(socket);
  switch (message.type) {
    case "hello":
      return welcome(link, socket, message);
    case "capabilities":
      return changeCapabilities(link, runnerId, message.capabilities);
    case "heartbeat":
      return beat(link, socket, message.running);
    case "leaving":
      return outside.queue().runnerDraining(runnerId, true);
    case "jobProgress":
      return outside.queue().progress(runnerId, message.lease, message.progress);
    case "jobOutcome":
      return passOutcome(link, socket, message);
    case "deviceRoofline":
      await records.roofline(runnerId, message.deviceKey, message.roofline);
      return outside.queue().announceRunner(runnerId);
    case "inferFailed":
      return inFlight.infer.refuse(message.requestId, connectionId, message.problem);
    case "memoryReport":
      return inFlight.memory.answer(message.requestId, connectionId, message.report);
    case "health":
      return receiveHealth(link, socket, message);
    case "live":
      return link.listeners.receive(message.report);
    case "directOutcomes":
      return link.memory.direct.runIfRoom(async () => {
        // Inferences first: a thousand outcomes take some milliseconds.
        await endTurn();
        await recordOutcomes(link, await records.measureDirect(runnerId, message.outcomes));
      });
    case "echo":
      sendMessage(socket, { type: "echoReply", id: message.id });
      return;
  }
}

async function welcome(
  link: LinkParts,
  socket: LinkSocket,
  { capabilities, running, jobsLeft }: Extract<RunnerMessage, { type: "hello" }>,
): Promise<void> {
  const { outside, memory, intervals } = link;
  const { records } = outside;
  const { runnerId } = attachmentOf(socket);
  const helloAtMs = outside.now();
  memory.quietUntilMs = 0;
  const runner = await records.hello(runnerId, capabilities);
  if (runner === null) return endRunner(link, runnerId);
  await outside.connected.write(runnerId);
  const announced = { id: runnerId, ...runner, capabilities, jobsLeft: jobsLeft ?? null };
  const { placed, uncalibrated, outdated } = await records.plan(announced);
  sendMessage(socket, { type: "welcome", runnerId, version: VERSION, intervals, placed });
  attach(socket, { ...attachmentOf(socket), isWelcomed: true });
  handOverTicketKey(socket, capabilities.direct?.url, helloAtMs);
  link.listeners.connected();
  if (runner.draining) sendMessage(socket, { type: "drain", draining: true });
  const queue = outside.queue();
  cancelLeases(socket, await queue.runnerConnected(announced, running, helloAtMs));
  await queue.ensureCalibrations(runnerId, uncalibrated);
  await records.dropPlacements(outdated, helloAtMs);
}

/** The queue, which has one thread for all, gets a result as JSON: it would copy megabytes of objects instead. */
async function passOutcome({ outside }: LinkParts, socket: LinkSocket, message: JobOutcome): Promise<void> {
  const { lease, outcome } = message;
  const stored = await outside.queue().settle(attachmentOf(socket).runnerId, { lease, outcome: toPassed(outcome) });
  if (stored !== null) sendMessage(socket, { type: "jobSettled", lease, stored });
}

function toPassed(outcome: JobOutcome["outcome"]): PassedOutcome["outcome"] {
  if (!outcome.ok) return outcome;
  const { samples, trace, ...rest } = outcome;
  const resultText = JSON.stringify(outcome.result);
  if (resultText.length > LIMITS.jobResultBytes) return { ok: false, problem: TOO_LARGE };
  return {
    ...rest,
    result: undefined,
    resultText,
    // What is too long would not be kept; the queue must not hold it.
    ...(samples !== undefined && samples.length <= LIMITS.samplesBytes && { samples }),
    ...(trace !== undefined && { trace: trace.length <= LIMITS.traceBytes ? trace : "" }),
  };
}

/** The queue gets new capabilities first, since the next outcome may depend on them. */
async function changeCapabilities({ outside }: LinkParts, runnerId: string, capabilities: Capabilities): Promise<void> {
  await outside.queue().runnerChanged(runnerId, capabilities);
  await outside.records.capabilities(runnerId, capabilities);
  await outside.queue().announceRunner(runnerId);
}

/** A heartbeat that renews nothing goes to the queue while jobs wait there, and otherwise once a lease. */
async function beat(link: LinkParts, socket: LinkSocket, running: Lease[]): Promise<void> {
  const { outside, memory, intervals } = link;
  const nowMs = outside.now();
  if (running.length === 0 && nowMs < memory.quietUntilMs) return;
  const { stale, isWanted } = await outside.queue().heartbeat(attachmentOf(socket).runnerId, running);
  memory.quietUntilMs = isWanted ? 0 : nowMs + intervals.leaseMs;
  cancelLeases(socket, stale);
}

/** Keeps a report at once. A judgement reads all that are kept: one that waits serves those that come meanwhile. */
async function receiveHealth(link: LinkParts, socket: LinkSocket, { requestId, report }: HealthMessage): Promise<void> {
  const { records } = link.outside;
  const { runnerId, connectionId } = attachmentOf(socket);
  if (!isSoundReport(report)) throw new RangeError("the report of health cannot be kept");
  if (requestId !== null) return link.inFlight.health.answer(requestId, connectionId, report);
  records.keepReport(report);
  await link.memory.watching.runIfRoom(() => records.watch(runnerId));
}
