import { z } from "zod";
import { serviceEndpoints } from "../protocol/service/service-endpoints.ts";
import { LINK_SUBPROTOCOL } from "../protocol/link.ts";
import { parseJson } from "../protocol/wire/parse-json.ts";
import { explainMismatch } from "../protocol/wire/release.ts";
import type { Fault } from "./fault.ts";
import { nameNetworkFault } from "./name-network-fault.ts";

/** Fields read from the reply; an edge of another release may send more, or fewer. */
const Health = z.object({
  status: z.literal("ok"),
  version: z.string(),
  linkProtocols: z.array(z.string()).default(["millrace.v1"]),
});
const WITHIN_MS = 7_000;

export type Reached =
  | {
      readonly kind: "edge";
      readonly version: string;
      /** Set where no runner of this release can link to it. */
      readonly mismatch: Fault | null;
      /** Lead of the edge's clock over this one; null if it sent no date. */
      readonly aheadMs: number | null;
      /** Error bound of `aheadMs`: dates are whole seconds, and the reply took time. */
      readonly withinMs: number;
    }
  | { readonly kind: "fault"; readonly fault: Fault };

export interface ReachOptions {
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Variables that name the proxies. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Asks an edge how it is, within seven seconds, and names what is in the way. */
export async function reachEdge(
  edgeUrl: string,
  { fetch: doFetch = fetch, environment }: ReachOptions,
): Promise<Reached> {
  const url = new URL(serviceEndpoints.getHealth.path, edgeUrl);
  const sentMs = Date.now();
  let response: Response;
  let text: string;
  try {
    response = await doFetch(url, { signal: AbortSignal.timeout(WITHIN_MS) });
    text = await response.text();
  } catch (error) {
    return { kind: "fault", fault: await nameNetworkFault(error, url, environment) };
  }
  const halfTripMs = (Date.now() - sentMs) / 2;
  const health = Health.safeParse(parseJson(text));
  if (!response.ok || !health.success) return { kind: "fault", fault: nameStranger(url, response) };
  const { version, linkProtocols: protocols } = health.data;
  const dateMs = Date.parse(response.headers.get("date") ?? "");
  const aheadMs = Number.isNaN(dateMs) ? null : Math.round(dateMs + 500 - (sentMs + halfTripMs));
  const mismatch = nameMismatch(url, explainMismatch({ release: version, protocols }, [LINK_SUBPROTOCOL]));
  return { kind: "edge", version, mismatch, aheadMs, withinMs: 500 + halfTripMs };
}

function nameStranger({ origin, href }: URL, { status, headers }: Response): Fault {
  const type = headers.get("content-type")?.split(";")[0] ?? "no media type";
  return {
    cause: "not-an-edge",
    found: `What answers at ${origin} is no edge: status ${status}, ${type}`,
    advice: `Name the edge's address with --edge; a portal or proxy may answer in its place: open ${href}.`,
  };
}

function nameMismatch({ origin }: URL, advice: string | null): Fault | null {
  return advice === null ? null : { cause: "release", found: `${origin} does not speak this release's link`, advice };
}

/** Fault of a way that passes ordinary requests alone; `answer` is what came instead. */
export function nameWebSocketFault(origin: string, answer: string): Fault {
  return {
    cause: "websocket",
    found: `${origin} answers, but its WebSocket does not come through: ${answer}`,
    advice:
      "Have the proxy or firewall between pass WebSockets (Upgrade: websocket), or a tunnel by CONNECT (HTTPS_PROXY).",
  };
}

/** Beyond this, what is reported with times of this machine stands in the wrong place of the history. */
export const CLOCK_MILD_MS = 2_000;
const GRAVE_MS = 30_000;

/**
 * Fault of this machine's clock; null where it may be right. `aheadMs` is the lead of the edge's clock, known to within
 * `withinMs`.
 */
export function judgeClock(aheadMs: number, withinMs: number): Fault | null {
  const certainMs = Math.max(0, Math.abs(aheadMs) - withinMs);
  if (certainMs < CLOCK_MILD_MS) return null;
  const side = aheadMs > 0 ? "behind" : "ahead of";
  return {
    cause: "clock",
    found: `This machine's clock is ${(Math.abs(aheadMs) / 1e3).toFixed(0)} s ${side} the edge's`,
    advice: "Set it by NTP: `timedatectl set-ntp true`, or chrony.",
    ...(certainMs < GRAVE_MS && { isMild: true }),
  };
}
