import type { Endpoint } from "../protocol/endpoint.ts";
import { buildRequest, nameOf, readProblem, readReply } from "./request-and-reply.ts";
import type { CallOptions, OptionsArgument, RequestParts } from "./call-options.ts";
import type { Retry } from "./retry.ts";
import { iterateEvents, type StreamEvent, type StreamOptions } from "./event-stream.ts";

export interface ClientOptions {
  /** Origin of the edge, such as `http://127.0.0.1:8787`. */
  readonly baseUrl: string;
  /** Secret of an API key; absent: only public routes answer. */
  readonly key?: string | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Makes an error of a reply that is no success; absent: the server's problem, or one that names the endpoint. */
  readonly explain?: (response: Response) => Promise<Error>;
  /** Repeats what may be repeated, such as `createRetry()`; absent: every request is sent once. */
  readonly retry?: Retry;
}

/** A typed client over the endpoint table. Every method throws ProblemError with the server's problem. */
export interface Client {
  /** Calls an endpoint and gives its reply, parsed by its schema. */
  call<P, Q, H, B, Reply>(
    endpoint: Endpoint<P, Q, H, B, Reply>,
    ...options: OptionsArgument<CallOptions<P, Q, H, B>>
  ): Promise<unknown extends Reply ? undefined : Reply>;
  /** Iterates the server-sent events of an endpoint. */
  stream<P, Q, H, B, Reply, Data>(
    endpoint: Endpoint<P, Q, H, B, Reply>,
    options: CallOptions<P, Q, H, B> & StreamOptions<Data>,
  ): AsyncIterable<StreamEvent<Data>>;
  /** Sends a request and gives the successful reply unread: for files and binary forms. */
  send(endpoint: Endpoint, parts?: RequestParts): Promise<Response>;
}

/** Creates a client for one edge and key. Runs wherever `fetch` does. */
export function createClient(options: ClientOptions): Client {
  const doFetch = options.fetch ?? ((...request: Parameters<typeof fetch>) => globalThis.fetch(...request));
  const explain = options.explain ?? ((response: Response, endpoint: Endpoint) => readProblem(endpoint, response));
  const retry: Retry = options.retry ?? ((_, parts, attempt) => attempt(parts));

  async function sendOnce(endpoint: Endpoint, parts: RequestParts = {}): Promise<Response> {
    const { url, init } = buildRequest(options, endpoint, parts);
    const response = await doFetch(url, init).catch((cause: unknown) => {
      if (parts.signal?.aborted === true) throw cause;
      throw new TypeError(`${nameOf(endpoint)}: ${options.baseUrl} cannot be reached`, { cause });
    });
    if (!response.ok) throw await explain(response, endpoint);
    return response;
  }

  return {
    send: (endpoint, parts = {}) => retry(endpoint, parts, (again) => sendOnce(endpoint, again)),
    async call(endpoint, ...[parts = {}]) {
      // With the reply's body, which may break off on the way, too.
      return (await retry(endpoint, parts, async (again) =>
        readReply(endpoint, await sendOnce(endpoint, again)),
      )) as never;
    },
    stream(endpoint, parts) {
      const { params, query, headers, signal } = parts;
      const open = (more: object) =>
        sendOnce(endpoint, { params, query, headers: { ...(headers as object | undefined), ...more }, signal });
      return iterateEvents(endpoint, open, parts);
    },
  };
}
