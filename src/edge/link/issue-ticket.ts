import { toBase64Url } from "../../protocol/wire/base64url.ts";
import { createProblem } from "../../protocol/wire/problem.ts";
import type { IssuedTicket, TicketWish } from "./link-rpc.ts";
import type { DirectWay } from "./runner-socket.ts";
import { signingKey, signTicket } from "./ticket-keys.ts";

/** Signs a ticket for the runner at the other end of a socket; null means that there is no socket. */
export async function issueTicket(
  attached: { readonly runnerId: string; readonly direct?: DirectWay } | null,
  { lifeMs, ...wish }: TicketWish,
  nowMs: number,
): Promise<IssuedTicket> {
  if (attached === null) return refuse("runner-offline", "The runner is not connected.");
  const { runnerId, direct } = attached;
  const key = signingKey(direct?.keys ?? [], nowMs);
  if (direct === undefined || key === undefined) return refuse("no-listener", "The runner has no listener now.");
  const expiresAtMs = nowMs + lifeMs;
  const nonce = toBase64Url(crypto.getRandomValues(new Uint8Array(12)));
  const ticket = await signTicket(key, { runnerId, ...wish, expiresAtMs, nonce });
  return { ok: true, ticket, url: direct.url, expiresAtMs };
}

function refuse(code: "runner-offline" | "no-listener", detail: string): IssuedTicket {
  return { ok: false, problem: createProblem(code, detail, code === "runner-offline" ? { retryAfterMs: 1_000 } : {}) };
}
