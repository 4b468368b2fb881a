/**
 * Type of a request where the table has `T`: the table's types are those after parsing, with all defaults, so a sender
 * may leave fields out; the edge names a missing required one.
 */
export type Sendable<T> = T extends readonly (infer Item)[]
  ? readonly Sendable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Sendable<T[Key]> }
    : T;

/** A body that is sent as it stands. */
export interface RawBody {
  readonly mediaType: string;
  readonly content: Uint8Array<ArrayBuffer> | Blob | string;
}

/** Everything a request can be made of, whatever its endpoint says. */
export interface RequestParts {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly headers?: unknown;
  readonly body?: unknown;
  readonly rawBody?: RawBody | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Absent<Name extends string> = { readonly [Key in Name]?: undefined };
type Params<T> = unknown extends T ? Absent<"params"> : { readonly params: T };
type Query<T> = unknown extends T ? Absent<"query"> : { readonly query?: Sendable<T> };
type Headers<T> = unknown extends T ? Absent<"headers"> : { readonly headers?: Sendable<T> };
type Body<T> = unknown extends T
  ? Absent<"body"> & { readonly rawBody?: RawBody }
  : ({ readonly body: Sendable<T> } & Absent<"rawBody">) | (Absent<"body"> & { readonly rawBody: RawBody });

/** The options of a call, as far as the endpoint has such parts. */
export type CallOptions<P, Q, H, B> = Params<P> & Query<Q> & Headers<H> & Body<B> & { readonly signal?: AbortSignal };

/** The arguments behind the endpoint: none are needed where every part may be left out. */
export type OptionsArgument<Options> = Partial<Options> extends Options ? [options?: Options] : [options: Options];
