import type { EdgeMessage, Lease, Offer } from "../../protocol/link.ts";
import { LIMITS } from "../../protocol/wire/limits.ts";
import { createProblem } from "../../protocol/wire/problem.ts";
import type { InFlightTable } from "./in-flight.ts";
import type { LinkOutcome } from "./link-rpc.ts";
import type { LinkParts } from "./link-parts.ts";
import { attachmentOf, type LinkSocket, openSockets, sendMessage } from "./runner-socket.ts";

/** The runner's socket; null where it is not connected. */
export function findSocket({ outside }: LinkParts): LinkSocket | null {
  return openSockets(outside.sockets())[0] ?? null;
}

/** Sends a message if the runner is connected. */
export function say(link: LinkParts, message: EdgeMessage): void {
  const socket = findSocket(link);
  if (socket !== null) sendMessage(socket, message);
}

/** Sends a request and waits for the answer, for `budgetMs` at most. */
export async function askRunner<Answer>(
  link: LinkParts,
  asked: InFlightTable<Answer>,
  requestId: string,
  message: string | Uint8Array,
  budgetMs: number,
  onDeadline: (socket: LinkSocket) => void = () => {},
): Promise<LinkOutcome<Answer>> {
  const socket = findSocket(link);
  if (socket === null) {
    return {
      ok: false,
      heard: false,
      problem: createProblem("runner-offline", "The runner is not connected.", { retryAfterMs: 1_000 }),
    };
  }
  if (asked.size >= LIMITS.inFlightPerRunner) {
    const detail = `${LIMITS.inFlightPerRunner} requests are in flight on this runner.`;
    return { ok: false, heard: false, problem: createProblem("overloaded", detail, { retryAfterMs: 100 }) };
  }
  const answer = asked.add(requestId, attachmentOf(socket).connectionId, budgetMs, () => onDeadline(socket));
  try {
    socket.send(message);
  } catch {
    const problem = createProblem("runner-offline", "The runner's socket has closed.", { retryAfterMs: 1_000 });
    asked.fail(requestId, problem);
  }
  return answer;
}

/** A frame for the runner, and the project that it is of. */
interface InferQuestion {
  readonly requestId: string;
  readonly frame: Uint8Array;
  readonly project: string;
}

/** Sends a frame and waits for the answer; at the deadline it cancels the request at the runner. */
export async function askInference(
  link: LinkParts,
  { requestId, frame, project }: InferQuestion,
  budgetMs: number,
): Promise<LinkOutcome> {
  const { infer, places, bytes } = link.inFlight;
  const hasPlace = places.take(project);
  if (!hasPlace || !bytes.take(project, frame.byteLength)) {
    if (hasPlace) places.giveBack(project);
    const detail = `As ${hasPlace ? "many bytes" : "many requests"} of the project are in flight on this runner as may be.`;
    return { ok: false, heard: false, problem: createProblem("overloaded", detail, { retryAfterMs: 100 }) };
  }
  try {
    return await askRunner(link, infer, requestId, frame, budgetMs, (socket) =>
      sendMessage(socket, { type: "inferCancel", requestId }),
    );
  } finally {
    places.giveBack(project);
    bytes.giveBack(project, frame.byteLength);
  }
}

/** The caller is gone, or does not wait any longer: the runner need not work on the request. */
export function cancelInference(link: LinkParts, requestId: string): void {
  say(link, { type: "inferCancel", requestId });
  link.inFlight.infer.fail(requestId, createProblem("budget-exceeded", "The request ended before its answer."));
}

/** Offers a job; `offline` where no socket is there to take it, or its runner has not had its welcome. */
export async function offerToRunner(
  link: LinkParts,
  offered: Pick<Offer, "lease" | "attempt" | "spec" | "traceparent">,
): Promise<"sent" | "offline"> {
  const socket = findSocket(link);
  if (socket === null || attachmentOf(socket).isWelcomed !== true) return "offline";
  const context = await link.outside.records.offerContext(offered.spec, attachmentOf(socket).runnerId);
  return sendMessage(socket, { type: "offer", ...offered, ...context }) ? "sent" : "offline";
}

/** Sends a version's new serving configuration; a runner that is not connected gets it with its next welcome. */
export async function configureRunner(link: LinkParts, modelVersionId: string): Promise<void> {
  const socket = findSocket(link);
  if (socket === null) return;
  const placed = await link.outside.records.placedModel(attachmentOf(socket).runnerId, modelVersionId);
  if (placed !== null) sendMessage(socket, { type: "configure", placed: [placed] });
}

export function cancelLeases(socket: LinkSocket, leases: readonly Lease[]): void {
  for (const lease of leases) sendMessage(socket, { type: "jobCancel", lease });
}
