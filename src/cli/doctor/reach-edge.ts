import { z } from "zod";
import { endpoints } from "../../protocol/endpoints.ts";
import { parseJson } from "../../protocol/parse-json.ts";

/** What of the reply is told; an edge of another release may say more, or less. */
const Health = z.object({ status: z.literal("ok"), version: z.string() });
const WITHIN_MS = 10_000;

export type Reached =
  | {
      readonly kind: "edge";
      readonly version: string;
      /** By how much the edge's clock is ahead of this one's; null where it sent no date. */
      readonly aheadMs: number | null;
      /** How wrong that may be: dates are whole seconds, and the reply took its time. */
      readonly withinMs: number;
    }
  | { readonly kind: "other"; readonly reason: string }
  | { readonly kind: "silent"; readonly reason: string };

/** Asks an edge how it is. */
export async function reachEdge(edgeUrl: string, doFetch: typeof fetch): Promise<Reached> {
  const sentMs = Date.now();
  let response: Response;
  let text: string;
  try {
    response = await doFetch(new URL(endpoints.getHealth.path, edgeUrl), { signal: AbortSignal.timeout(WITHIN_MS) });
    text = await response.text();
  } catch (error) {
    return { kind: "silent", reason: reasonOf(error) };
  }
  const halfTripMs = (Date.now() - sentMs) / 2;
  const health = Health.safeParse(parseJson(text));
  if (!response.ok || !health.success) return { kind: "other", reason: `status ${response.status}` };
  const dateMs = Date.parse(response.headers.get("date") ?? "");
  const aheadMs = Number.isNaN(dateMs) ? null : Math.round(dateMs + 500 - (sentMs + halfTripMs));
  return { kind: "edge", version: health.data.version, aheadMs, withinMs: 500 + halfTripMs };
}

/** `fetch` hides what happened behind its own message. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  return (cause as NodeJS.ErrnoException).code ?? cause.message;
}
