import type { z } from "zod";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { Endpoint } from "../protocol/endpoint.ts";
import { parseJson } from "../protocol/wire/parse-json.ts";
import { backoffMs, isPassing, waitMs } from "./retry.ts";
import { nameOf, parseBy } from "./request-and-reply.ts";

/** One server-sent event with its parsed data. */
export interface StreamEvent<Data> {
  readonly id: string | null;
  readonly type: string;
  readonly data: Data;
}

/** `open` begins after every (re)connection: whatever happened before it may have been missed. */
export type StreamState = "connecting" | "open" | "waiting";

export interface StreamOptions<Data> {
  /** Schema of the data of every event. */
  readonly schema: z.ZodType<Data>;
  /** Resumes behind this event, where the server keeps events. */
  readonly lastEventId?: string;
  /** Connects again, with backoff, when the stream ends or breaks; absent: its end is the end. */
  readonly reconnect?: boolean;
  /** Takes a connection that was silent for so long for dead: a half-open one never says that it is. */
  readonly silenceMs?: number;
  readonly onState?: (state: StreamState) => void;
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal;
}

/** Opens the stream's reply, with these headers. */
export type OpenStream = (headers: Record<string, string>) => Promise<Response>;

/**
 * Iterates a stream of server-sent events. With `reconnect` only an error that would come again
 * ends it: a problem that is not retryable, or data that the protocol does not know.
 */
export async function* iterateEvents<Data>(
  endpoint: Endpoint,
  open: OpenStream,
  options: StreamOptions<Data>,
): AsyncGenerator<StreamEvent<Data>, void, undefined> {
  const { signal, onState } = options;
  let lastEventId = options.lastEventId;
  let failures = 0;
  const connection = { retryMs: 0 };
  while (!isAborted(signal)) {
    try {
      onState?.("connecting");
      const response = await open(lastEventId === undefined ? {} : { "last-event-id": lastEventId });
      const body = bodyOf(endpoint, response);
      onState?.("open");
      for await (const { id, event, data } of readMessages(body, connection, options.silenceMs)) {
        failures = 0;
        if (id !== undefined) lastEventId = id;
        yield {
          id: id ?? null,
          type: event ?? "message",
          data: parseBy(options.schema, parseJson(data), `${nameOf(endpoint)} sent an event`),
        };
      }
      if (options.reconnect !== true) return;
    } catch (error) {
      if (isAborted(signal)) return;
      if (options.reconnect !== true || !isPassing(error)) throw error;
    }
    failures += 1;
    onState?.("waiting");
    await waitMs(Math.max(connection.retryMs, backoffMs(failures)), signal);
  }
}

function bodyOf(endpoint: Endpoint, response: Response): ReadableStream<Uint8Array<ArrayBuffer>> {
  const type = response.headers.get("content-type") ?? "nothing";
  if (response.body !== null && type.startsWith("text/event-stream")) return response.body;
  throw new Error(`${nameOf(endpoint)} answered ${response.status} with ${type}, not an event stream`);
}

async function* readMessages(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  connection: { retryMs: number },
  silenceMs: number | undefined,
): AsyncGenerator<EventSourceMessage> {
  const arrived: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (message) => arrived.push(message),
    onRetry: (retryMs) => (connection.retryMs = retryMs),
  });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await within(silenceMs, reader.read());
      if (done) return;
      parser.feed(value);
      yield* arrived.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function within<Value>(limitMs: number | undefined, work: Promise<Value>): Promise<Value> {
  if (limitMs === undefined) return work;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TypeError(`The stream was silent for ${limitMs} ms`)), limitMs);
  });
  return Promise.race([work, silence]).finally(() => clearTimeout(timer));
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
