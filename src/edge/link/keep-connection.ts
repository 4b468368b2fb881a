import { CLOSE_CODES, SILENT_PINGS } from "../../protocol/link.ts";
import { createProblem } from "../../protocol/wire/problem.ts";
import { armBy } from "../clock.ts";
import { measureOutcomes, type RefusedRequest, type RequestOutcome } from "../history/request-measurements.ts";
import type { LinkParts } from "./link-parts.ts";
import {
  attach,
  type Attachment,
  attachmentOf,
  endSocket,
  handOverTicketKey,
  type LinkSocket,
  openSockets,
  sendMessage,
} from "./runner-socket.ts";
import { logFailure } from "../log-failure.ts";

/** Time from a socket's accept to its welcome. */
export const HELLO_MS = 60_000;
const SEEN_EVERY_MS = 30_000;
/** Close codes that are no fault of the runner: it left, or the edge ended it, or the fault was counted elsewhere. */
const FAULTLESS = new Set<number>([1000, 1001, 1011, 1012, CLOSE_CODES.replaced, CLOSE_CODES.removed]);
/**
 * Time for which a runner that broke the protocol stays away: what it had sent still comes, and costs the thread of all.
 * Twice as long after a further breach within a minute.
 */
const REST_MS = { first: 1_000, longest: 10_000, forgottenAfter: 60_000 };
/** Largest number of batches that one alarm moves. */
const FLUSHED_BATCHES = 10;

/** Accepts a runner's new socket, which ends the earlier ones: the Worker has checked its credential. */
export async function acceptSocket(
  link: LinkParts,
  socket: LinkSocket,
  runner: Pick<Attachment, "runnerId" | "project">,
): Promise<void> {
  const { outside } = link;
  const isFlap = openSockets(outside.sockets()).some((old) => attachmentOf(old).isWelcomed);
  for (const old of outside.sockets()) closeSocket(link, old, CLOSE_CODES.replaced, "another socket took over");
  if (isFlap)
    outside.later(
      outside
        .queue()
        .runnerFlapped(runner.runnerId)
        .catch(() => undefined),
    );
  outside.accept(socket);
  attach(socket, { connectionId: crypto.randomUUID(), ...runner, acceptedAtMs: outside.now() });
  await armBy(outside.alarm, outside.now() + link.silentMs, outside.now());
}

/** Closes a socket. Its requests end now: a half-open one never reports its close. */
export function closeSocket(link: LinkParts, socket: LinkSocket, code: number, reason: string): void {
  // Of a socket that is closing already, more may be found that is wrong.
  const isBreach = code === CLOSE_CODES.protocolError && socket.readyState === WebSocket.OPEN;
  failRequests(link, socket);
  endSocket(socket, code, reason);
  if (isBreach && !link.memory.excused.has(socket)) noteBreach(link);
}

function noteBreach({ memory, outside }: LinkParts): void {
  const nowMs = outside.now();
  const isRepeated = Math.abs(nowMs - memory.rest.untilMs) < REST_MS.forgottenAfter;
  const ms = isRepeated ? Math.min(2 * memory.rest.ms, REST_MS.longest) : REST_MS.first;
  memory.rest = { ms, untilMs: nowMs + ms };
}

/** Time for which the runner must still stay away; 0 where it may come. */
export function findRestMs({ memory: { rest }, outside }: LinkParts): number {
  const leftMs = rest.untilMs - outside.now();
  // A clock that was set back would keep it away for as long.
  return leftMs > rest.ms ? 0 : Math.max(0, leftMs);
}

/** Handles the close of a socket. */
export async function noteClose(link: LinkParts, socket: LinkSocket, code: number): Promise<void> {
  endSocket(socket, code, "closed by the runner");
  await noteDisconnect(link, socket, !FAULTLESS.has(code));
}

/** Handles the loss of a socket. `isFault`: the runner did not leave by itself. */
export async function noteDisconnect(link: LinkParts, socket: LinkSocket, isFault: boolean): Promise<void> {
  const { outside, memory } = link;
  const { connectionId, runnerId, isWelcomed } = attachmentOf(socket);
  failRequests(link, socket);
  if (isConnected(link, connectionId)) return;
  link.listeners.disconnected();
  // The close of a socket that the alarm has ended may come later.
  const isNew = !memory.gone.has(socket) && (await outside.connected.read()) !== undefined;
  memory.gone.add(socket);
  await markOffline(link, runnerId, connectionId);
  if (isFault && isWelcomed && isNew && !memory.excused.has(socket)) await outside.queue().runnerFlapped(runnerId);
}

/** Ends the socket of a removed runner. */
export async function endRunner(link: LinkParts, runnerId: string): Promise<void> {
  const problem = createProblem("forbidden", "This runner was removed.");
  for (const socket of link.outside.sockets()) {
    sendMessage(socket, { type: "refused", problem });
    closeSocket(link, socket, CLOSE_CODES.removed, "removed");
  }
  link.listeners.end();
  await link.memory.watching.run(() => link.outside.records.endWatch(runnerId));
}

/** Whether a socket is open, other than that of a connection which is about to end. */
export function isConnected({ outside }: LinkParts, goneId?: string): boolean {
  return openSockets(outside.sockets()).some((socket) => attachmentOf(socket).connectionId !== goneId);
}

/** Keeps the outcomes of requests to this runner until the history has them. */
export async function recordOutcomes(
  link: LinkParts,
  outcomes: readonly (RequestOutcome | RefusedRequest)[],
): Promise<void> {
  const atMs = link.outside.now();
  for (const measured of measureOutcomes(outcomes)) link.outbox.add(measured, atMs);
  await armLink(link, atMs);
}

/** The link's alarm: ends sockets that fell silent (half-open ones never close) and moves measurements on. */
export async function ringLink(link: LinkParts): Promise<void> {
  const { outside, outbox } = link;
  const nowMs = outside.now();
  try {
    for (const socket of openSockets(outside.sockets())) await checkAlive(link, socket, nowMs);
    if (!isConnected(link)) await forgetStaleConnection(link);
    // Last: a batch that fails holds nothing else up.
    if (outbox.dueAtMs(link.flushMs) <= nowMs) await flushOutbox(link);
  } catch (error) {
    // The database may be away for long: without this alarm, the socket would go unwatched.
    logFailure("link-alarm-failed", error);
  }
  await armLink(link, nowMs);
}

/**
 * Sets one alarm, at the sooner of a silent socket's end and the next flush; overdue work waits a period.
 * A runner that counts as connected without a socket is checked after a period, too.
 */
async function armLink(link: LinkParts, nowMs: number): Promise<void> {
  const { outside, flushMs, silentMs } = link;
  const dueMs = link.outbox.dueAtMs(flushMs);
  const judgedMs = (socket: LinkSocket) =>
    link.memory.doubted.has(socket) ? nowMs + silentMs / SILENT_PINGS : heardAtMs(link, socket) + silentMs;
  const deadMs = Math.min(...openSockets(outside.sockets()).map(judgedMs));
  const isStale = deadMs === Number.POSITIVE_INFINITY && (await outside.connected.read()) !== undefined;
  const atMs = Math.min(isStale ? nowMs + silentMs : deadMs, dueMs > nowMs ? dueMs : nowMs + flushMs);
  await armBy(outside.alarm, atMs, nowMs);
}

async function checkAlive(link: LinkParts, socket: LinkSocket, nowMs: number): Promise<void> {
  const { runnerId, direct, isWelcomed, acceptedAtMs } = attachmentOf(socket);
  if (isWelcomed !== true && nowMs - acceptedAtMs > HELLO_MS) {
    link.memory.excused.add(socket);
    closeSocket(link, socket, CLOSE_CODES.protocolError, "no hello came in time");
    return noteDisconnect(link, socket, false);
  }
  const { doubted } = link.memory;
  const lateMs = nowMs - heardAtMs(link, socket) - link.silentMs;
  if (lateMs < 0) {
    doubted.delete(socket);
    handOverTicketKey(socket, direct?.url, nowMs);
    return noteSeen(link, runnerId, nowMs);
  }
  if (lateMs > link.silentMs / SILENT_PINGS && !doubted.has(socket)) {
    // The edge itself stood still: the socket's pings may be there, unread.
    doubted.add(socket);
    return;
  }
  closeSocket(link, socket, CLOSE_CODES.silent, "no sign of life");
  await noteDisconnect(link, socket, true);
}

/** Time of a socket's last ping; before the first, the time of its accept. */
function heardAtMs({ outside }: LinkParts, socket: LinkSocket): number {
  return outside.pingedAtMs(socket) ?? attachmentOf(socket).acceptedAtMs;
}

function failRequests({ inFlight }: LinkParts, socket: LinkSocket): void {
  const { connectionId } = attachmentOf(socket);
  const problem = createProblem("runner-lost", "The runner's connection broke.");
  for (const asked of [inFlight.infer, inFlight.memory, inFlight.health]) asked.failConnection(connectionId, problem);
}

/** Records now and then that the runner is alive; changes of its state are recorded at once elsewhere. */
async function noteSeen({ memory, outside }: LinkParts, runnerId: string, nowMs: number): Promise<void> {
  if (nowMs - memory.seenNotedAtMs < SEEN_EVERY_MS) return;
  memory.seenNotedAtMs = nowMs;
  await outside.records.seen(runnerId);
}

/**
 * Moves measurements to the history, batch by batch; a batch that fails stays for the next flush. Two at once send the
 * same batch, which the history keeps once.
 */
export async function flushOutbox({ outside, outbox }: LinkParts): Promise<void> {
  const projects = new Set<string>();
  try {
    for (let batch = 0; batch < FLUSHED_BATCHES && !outbox.isEmpty; batch++) {
      const { measurements, done } = outbox.takeBatch();
      await outside.records.append(measurements);
      done();
      for (const { project } of measurements) projects.add(project);
    }
  } finally {
    for (const project of projects) await outside.queue().announce({ type: "history", id: null }, project);
  }
}

/** After a restart of the edge, the earlier sockets get no close event. */
async function forgetStaleConnection(link: LinkParts): Promise<void> {
  const runnerId = await link.outside.connected.read();
  if (runnerId !== undefined) await markOffline(link, runnerId);
}

/** Reports that the runner is gone, but stops where it comes back meanwhile: its hello reports the contrary. */
async function markOffline(link: LinkParts, runnerId: string, goneId?: string): Promise<void> {
  const { outside } = link;
  await outside.records.disconnected(runnerId, outside.now());
  if (isConnected(link, goneId)) return;
  await outside.queue().runnerDisconnected(runnerId);
  if (isConnected(link, goneId)) return;
  // Last: until it is gone, the alarm tries again.
  await outside.connected.clear();
}
