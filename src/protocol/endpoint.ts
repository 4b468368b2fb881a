import type { z } from "zod";
import type { Scope } from "./service/key.ts";
import type { ProblemCode } from "./wire/problem.ts";

/** Who may call: a key with the scope, a runner with its credential, or anyone. */
export type Access = Scope | "runner" | "public";

/**
 * Content of a successful reply: JSON of a schema (`alsoAs` names its other formats), a stream or file of a media type
 * (`alsoAs` names others), or nothing (a socket).
 */
export type ReplyKind<Reply> =
  | (Cached & {
      readonly status: 200 | 201 | 202;
      readonly schema: z.ZodType<Reply>;
      readonly alsoAs?: readonly string[];
    })
  | (Cached & { readonly status: 200; readonly mediaType: string; readonly alsoAs?: readonly string[] })
  | (Cached & { readonly status: 101 | 204 });

/**
 * A reply with an `ETag`, for which `If-None-Match` gets a 304; of a file also one `Range`, for which there are 206 and
 * 416.
 */
interface Cached {
  readonly cached?: "tag" | "ranges";
}

/**
 * One route: the edge validates by it, the typed client calls by it, the OpenAPI document is made of
 * it. `rawBody` names the media types of a body that the handler reads by itself.
 */
export interface Endpoint<Params = unknown, Query = unknown, Headers = unknown, Body = unknown, Reply = unknown> {
  readonly method: "get" | "post" | "put" | "delete";
  readonly path: `/${string}`;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** Only with a key of the operator's own project: what concerns all projects. */
  readonly isOperators?: boolean;
  /** Called so often that it must not wait for a key look-up; see `authorise`. */
  readonly isFrequent?: boolean;
  /** Reads and computes much: few of a project's are worked on at once, and further ones wait or get `overloaded`. */
  readonly isHeavy?: boolean;
  /** Asks the queue's object, which has one thread for all projects: those of a project have a joint rate. */
  readonly asksQueue?: boolean;
  readonly params?: z.ZodType<Params>;
  readonly query?: z.ZodType<Query>;
  readonly headers?: z.ZodType<Headers>;
  readonly body?: z.ZodType<Body>;
  /** Limit of a JSON body; default `LIMITS.jsonBodyBytes`. */
  readonly bodyBytes?: number;
  readonly rawBody?: { readonly mediaTypes: readonly string[]; readonly maxBytes: number };
  /**
   * Set on a POST that is safe to send again: it only reads, it leaves existing data as it is, or an `Idempotency-Key`
   * makes it safe.
   */
  readonly repeatable?: "as-it-is" | "by-key";
  readonly reply: ReplyKind<Reply>;
  readonly problems?: readonly ProblemCode[];
}

export const EVENT_STREAM = "text/event-stream";

/** Keeps the types of an endpoint's schemas while it is written down. */
export function defineEndpoint<Params, Query, Headers, Body, Reply>(
  endpoint: Endpoint<Params, Query, Headers, Body, Reply>,
): Endpoint<Params, Query, Headers, Body, Reply> {
  return endpoint;
}
