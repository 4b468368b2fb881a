import type { RunnerMessage } from "../../protocol/link.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { Meter } from "../http/rate-limiter.ts";
import type { LinkParts } from "./link-parts.ts";
import { attachmentOf, type LinkSocket } from "./runner-socket.ts";

const MiB = 1_024 * 1_024;

/**
 * All messages of a runner, characters of its texts and bytes of its frames, counted before they are read: beyond, its
 * socket is closed. One runner answers some thousand inferences a second, a full table of `inFlightPerRunner` at once.
 * Its longest texts are outcomes of jobs with trace and samples, up to 12 Mi, which it repeats until they are settled.
 */
export const INBOUND = { perSecond: 10_000, burst: 20_000 };
export const TEXTS = { perSecond: 16 * MiB, burst: 128 * MiB };
export const FRAMES = { perSecond: 256 * MiB, burst: 1_024 * MiB };
/**
 * Messages to the queue and the database: beyond, the socket is closed. Of a job's progress so many are kept, and the
 * rest dropped; a dropped one had to be read, too: beyond `PROGRESS_MESSAGES` the socket is closed. Capabilities come
 * after a change alone, and a device's roofs once.
 */
export const STORED = { perSecond: 200, burst: 1_000 };
export const PROGRESS = { perSecond: 50, burst: 200 };
export const PROGRESS_MESSAGES = { perSecond: 500, burst: 2_000 };
export const ANNOUNCED = { perSecond: 1, burst: 20 };
/** Echoes, live reports, and messages of unknown types. A runner echoes one after the other, to measure. */
export const TALK = { perSecond: 1_000, burst: 2_000 };
/**
 * Outcomes of direct requests; messages of more are dropped, as the protocol allows. A listener that takes 64 requests
 * at once and needs 13 ms for each has so many; after a cut it sends `directOutcomesKept` at once. A dropped message had
 * to be read: beyond `OUTCOME_MESSAGES` the socket is closed. A runner sends one a second, and more where all are full.
 */
export const OUTCOMES = { perSecond: 5_000, burst: LIMITS.directOutcomesKept + 4 * LIMITS.directOutcomes };
export const OUTCOME_MESSAGES = { perSecond: 20, burst: 60 };
/**
 * Health reports in one `watchMs`, and at once; further ones are dropped. A dropped one had to be read, too: beyond
 * `REPORT_MESSAGES` the socket is closed. A runner sends one.
 */
export const REPORTS = { perWatch: 2, burst: 20 };
export const REPORT_MESSAGES = { perWatch: 4, burst: 60 };
/** Characters of a device's roofs, which join the runner's capabilities in the database: some 1,300 of ours. */
const ROOFLINE_LENGTH = 8_192;

/** Answers to the edge's questions, whose number the edge chooses. */
const ANSWERS: ReadonlySet<RunnerMessage["type"]> = new Set(["inferFailed", "memoryReport"]);
/** Messages that this object answers or passes on by itself. */
const LOCAL: ReadonlySet<RunnerMessage["type"]> = new Set(["echo", "live"]);

/** Meters of what a runner says, whichever socket it uses: a new one starts no new count. */
export function createMeters(watchMs: number) {
  return {
    stored: new Meter(STORED),
    progress: new Meter(PROGRESS),
    progressMessages: new Meter(PROGRESS_MESSAGES),
    announced: new Meter(ANNOUNCED),
    roofs: new Meter(ANNOUNCED),
    reports: new Meter(toSecond(REPORTS, watchMs)),
    reportMessages: new Meter(toSecond(REPORT_MESSAGES, watchMs)),
    outcomeMessages: new Meter(OUTCOME_MESSAGES),
    messages: new Meter(INBOUND),
    texts: new Meter(TEXTS),
    frames: new Meter(FRAMES),
    talk: new Meter(TALK),
    outcomes: new Meter(OUTCOMES),
  };
}

function toSecond({ perWatch, burst }: typeof REPORTS, watchMs: number) {
  return { perSecond: (perWatch * 1_000) / watchMs, burst };
}

/** Counts a message before it is read; the reason to close the socket where it is too much, else null. */
export function countInbound(link: LinkParts, message: string | ArrayBuffer): string | null {
  if (isSpent(link, "messages")) return `more than ${INBOUND.perSecond} messages a second`;
  if (typeof message !== "string")
    return isSpent(link, "frames", message.byteLength) ? `more than ${FRAMES.perSecond} bytes a second` : null;
  return isSpent(link, "texts", message.length) ? `more than ${TEXTS.perSecond} characters a second` : null;
}

/** Counts a message that the object handles by itself; the reason to close the socket where it is too much. */
export function countTalk(link: LinkParts): string | null {
  return isSpent(link, "talk") ? `more than ${TALK.perSecond} small messages a second` : null;
}

/** Counts a message of direct outcomes; the reason to close the socket where it is too much. */
export function countOutcomes(link: LinkParts): string | null {
  const isTooMuch = isSpent(link, "outcomeMessages");
  return isTooMuch ? `direct outcomes more than ${OUTCOME_MESSAGES.perSecond} times a second` : null;
}

/**
 * Whether a message may wait for the thread: it is long work, and may be lost or comes again. A failure comes once where
 * its runner stops, declines the job or cannot read it.
 */
export function mayWait(message: RunnerMessage): boolean {
  if (message.type === "health") return message.requestId === null;
  return message.type === "directOutcomes" || (message.type === "jobOutcome" && message.outcome.ok);
}

/** What becomes of a message that is too much: it is dropped, or ends the socket for this reason. */
type Excess = { readonly reason: string | null };
const DROPPED: Excess = { reason: null };

/**
 * Finds out whether a message is too much; null for one that is heeded. The queue and the database behind the link are
 * everybody's, so what reaches them has a rate and a size. `isCounted`: its rate was counted before it was read.
 */
export function findExcess(
  link: LinkParts,
  socket: LinkSocket,
  message: RunnerMessage,
  length: number,
  isCounted = false,
): Excess | null {
  const { type } = message;
  // The queue would give it work that it takes from its welcome on.
  if (type === "heartbeat" && attachmentOf(socket).isWelcomed !== true) return DROPPED;
  if (ANSWERS.has(type) || (type === "health" && message.requestId !== null)) return null;
  if (LOCAL.has(type)) return endFor(countTalk(link));
  const tooOften = type === "directOutcomes" && !isCounted ? countOutcomes(link) : null;
  if (tooOften !== null) return { reason: tooOften };
  if (type === "jobProgress" && isSpent(link, "progressMessages"))
    return { reason: `progress more than ${PROGRESS_MESSAGES.perSecond} times a second` };
  if (type === "health" && isSpent(link, "reportMessages"))
    return { reason: `health reports more than ${REPORT_MESSAGES.perWatch} times in an interval` };
  return isDropped(link, message) ? DROPPED : endFor(findReason(link, message, length));
}

function endFor(reason: string | null): Excess | null {
  return reason === null ? null : { reason };
}

/** Whether a message may be lost, and has come more often than it may. */
function isDropped(link: LinkParts, message: RunnerMessage): boolean {
  if (message.type === "jobProgress") return isSpent(link, "progress");
  if (message.type === "health") return isSpent(link, "reports");
  return message.type === "directOutcomes" && isSpent(link, "outcomes", message.outcomes.length);
}

/** The reason to end the socket for a message to the queue or the database. */
function findReason(link: LinkParts, message: RunnerMessage, length: number): string | null {
  if ("capabilities" in message) {
    if (length > LIMITS.announcedLength) return `capabilities of more than ${LIMITS.announcedLength} characters`;
    if (isSpent(link, "announced")) return `capabilities more often than ${ANNOUNCED.perSecond} a second`;
  }
  if (message.type === "deviceRoofline") {
    if (length > ROOFLINE_LENGTH) return `roofs of more than ${ROOFLINE_LENGTH} characters`;
    if (isSpent(link, "roofs")) return `roofs more often than ${ANNOUNCED.perSecond} a second`;
  }
  return isSpent(link, "stored") ? `more than ${STORED.perSecond} messages a second` : null;
}

function isSpent({ memory, outside }: LinkParts, what: keyof ReturnType<typeof createMeters>, amount = 1): boolean {
  return !memory.meters[what].take(amount, outside.now());
}
