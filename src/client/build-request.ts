import type { Endpoint } from "../protocol/endpoint.ts";
import type { RequestParts } from "./call-options.ts";

/** Where requests go and what they show for themselves. */
export interface RequestTarget {
  readonly baseUrl: string;
  readonly key?: string | undefined;
}

/** The URL and fetch options of one request; throws where a parameter of the path is missing. */
export function buildRequest(
  target: RequestTarget,
  endpoint: Endpoint,
  parts: RequestParts,
): { readonly url: string; readonly init: RequestInit } {
  const headers = new Headers(present(parts.headers));
  if (target.key !== undefined) headers.set("authorization", `Bearer ${target.key}`);
  if (!headers.has("accept")) headers.set("accept", acceptedBy(endpoint));
  const init: RequestInit = { method: endpoint.method.toUpperCase(), headers, signal: parts.signal ?? null };
  if (parts.rawBody !== undefined) {
    headers.set("content-type", parts.rawBody.mediaType);
    init.body = parts.rawBody.content;
  } else if (parts.body !== undefined) {
    headers.set("content-type", "application/json");
    init.body = JSON.stringify(parts.body);
  }
  const url = target.baseUrl.replace(/\/+$/, "") + fillPath(endpoint, parts.params) + encodeQuery(parts.query);
  return { url, init };
}

function acceptedBy({ reply }: Endpoint): string {
  return "mediaType" in reply ? reply.mediaType : "application/json";
}

function fillPath(endpoint: Endpoint, params: unknown): string {
  const values = new Map(present(params));
  return endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values.get(name) ?? "";
    if (value === "") throw new TypeError(`${endpoint.method} ${endpoint.path} wants params.${name}`);
    return encodeURIComponent(value);
  });
}

/** Lists are sent with commas between their items, as the table's lists are read. */
function encodeQuery(query: unknown): string {
  const text = new URLSearchParams(present(query)).toString();
  return text === "" ? "" : `?${text}`;
}

function present(values: unknown): [string, string][] {
  return Object.entries(values ?? {}).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
}
