import { inferenceEndpoints } from "../protocol/inference/inference-endpoints.ts";
import { decodeFrame, encodeFrame, splitTensors } from "../protocol/wire/frame.ts";
import { FRAME_MEDIA_TYPE } from "../protocol/inference/inference.ts";
import type { Tensor } from "../protocol/wire/tensor.ts";
import {
  type DirectFrameHeader,
  DirectReplyHeader,
  type Ticket,
  type TicketRequest,
} from "../protocol/inference/ticket.ts";
import { backoffMs } from "./retry.ts";
import type { Sendable } from "./call-options.ts";
import type { Client } from "./client.ts";
import { parseBy, readProblem } from "./request-and-reply.ts";

/** One inference on the runner itself; without a budget of its own it has the ticket's. */
export interface DirectRequest {
  readonly inputs: readonly Tensor[];
  readonly budgetMs?: number;
  readonly signal?: AbortSignal;
}

/** The reply's header, its tensors, and the ticket that brought it, which says where it ran. */
export interface DirectReply {
  readonly header: DirectReplyHeader;
  readonly outputs: readonly Tensor[];
  readonly ticket: Ticket;
}

/** A way to one model on a runner itself. */
export interface DirectChannel {
  /** Throws ProblemError with the edge's problem or the runner's. */
  infer(request: DirectRequest): Promise<DirectReply>;
  /** Gets a ticket, and asks the runner's listener for a sign of life. Throws where one of them fails. */
  reach(signal: AbortSignal): Promise<void>;
}

export interface DirectOptions {
  /** Replaces the global `fetch` for what goes to the runner. */
  readonly fetch?: typeof globalThis.fetch;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

interface Held {
  readonly ticket: Ticket;
  readonly askedAtMs: number;
  uses: number;
}

/** Share of a ticket's life and requests after which the next one is fetched while this one still serves. */
const RENEWED_AT = 0.6;

/** Opens a way around the edge: it gets tickets as they are needed, and sends frames to the runner. */
export function openDirectChannel(
  client: Client,
  wishes: Sendable<TicketRequest>,
  options: DirectOptions = {},
): DirectChannel {
  const doFetch = options.fetch ?? ((...request: Parameters<typeof fetch>) => globalThis.fetch(...request));
  const now = options.now ?? (() => performance.now());
  let held: Held | null = null;
  let renewing: Promise<Held> | null = null;
  /** Failed renewals in the background, and refusals of a new ticket. */
  const [renewals, refusals] = [createPause(now), createPause(now)];

  function renew(): Promise<Held> {
    renewing ??= fetchTicket().finally(() => {
      renewing = null;
    });
    return renewing;
  }

  async function fetchTicket(): Promise<Held> {
    const askedAtMs = now();
    const ticket = await client.call(inferenceEndpoints.createTicket, { body: wishes });
    held = { ticket, askedAtMs, uses: 0 };
    renewals.end();
    return held;
  }

  async function takeTicket(signal?: AbortSignal): Promise<Ticket> {
    const isSpent = ({ ticket, askedAtMs, uses }: Held, share: number) =>
      now() - askedAtMs >= ticket.lifeMs * share || uses >= ticket.requests * share;
    const current = held === null || isSpent(held, 1) ? await untilAborted(renew(), signal) : held;
    // Should it fail, this ticket's end brings the problem to light.
    if (isSpent(current, RENEWED_AT) && renewing === null && renewals.isOver()) renew().catch(renewals.lengthen);
    current.uses++;
    return current.ticket;
  }

  async function send(ticket: Ticket, body: Uint8Array<ArrayBuffer>, signal?: AbortSignal): Promise<Response> {
    const headers = { authorization: `Bearer ${ticket.ticket}`, "content-type": FRAME_MEDIA_TYPE };
    const init = { method: "POST", headers, body, signal: signal ?? null };
    return doFetch(ticket.url, init).catch((cause: unknown) => {
      if (signal?.aborted === true) throw cause;
      throw new TypeError(`The runner at ${ticket.url} cannot be reached`, { cause });
    });
  }

  return {
    async reach(signal) {
      const { url } = await takeTicket(signal);
      // Any reply shows that the listener can be reached.
      await (await doFetch(new URL("/v2/health/live", url).href, { signal })).body?.cancel();
    },
    async infer({ inputs, budgetMs, signal }) {
      const header: Omit<DirectFrameHeader, "tensors"> = budgetMs === undefined ? {} : { budgetMs };
      const body = encodeFrame(header, inputs);
      let ticket = await takeTicket(signal);
      let response = await send(ticket, body, signal);
      // The runner was started again and has another key, or its time is not ours.
      if (response.status === 401 && (held?.ticket !== ticket || refusals.isOver())) {
        await response.body?.cancel();
        if (held?.ticket === ticket) held = null;
        ticket = await takeTicket(signal);
        response = await send(ticket, body, signal);
        if (response.status === 401) refusals.lengthen();
        else refusals.end();
      }
      if (!response.ok) throw await readProblem(inferenceEndpoints.infer, response);
      return { ...readFrame(new Uint8Array(await response.arrayBuffer())), ticket };
    },
  };
}

/** A time without another try behind failures, longer with each. */
export function createPause(now: () => number) {
  let failures = 0;
  let endMs = Number.NEGATIVE_INFINITY;
  return {
    isOver: () => now() >= endMs,
    lengthen: () => void (endMs = now() + backoffMs(++failures)),
    end: () => void (failures = 0),
  };
}

/** Work that others may be waiting for, too: it goes on where this one gives up. */
async function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return work;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function readFrame(bytes: Uint8Array): Pick<DirectReply, "header" | "outputs"> {
  const source = "The runner answered a frame";
  const frame = decodeFrame(bytes);
  if (!frame.ok) throw new Error(`${source} that cannot be read: ${frame.message}`);
  const header = parseBy(DirectReplyHeader, frame.header, source);
  const split = splitTensors(header.tensors, frame.payload);
  if (!split.ok) throw new Error(`${source} that cannot be read: ${split.message}`);
  return { header, outputs: split.tensors };
}
