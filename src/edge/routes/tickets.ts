import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { ProblemError } from "../../protocol/problem.ts";
import type { Ticket, TicketRequest } from "../../protocol/ticket.ts";
import type { ProjectEnv } from "../config.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import type { IssuedTicket } from "../link/issue-ticket.ts";
import { runnerLink } from "../stubs.ts";
import { countRefusal } from "../budget/refusal-log.ts";
import { admitRequest, confidenceOf } from "./admit-request.ts";
import { describePlacement } from "./answer-inference.ts";
import type { WaitUntil } from "./ask-runner.ts";

/** `POST /v1/tickets`: chooses a placement as an inference would, and lets its runner's link sign for it. */
export function bindTickets(app: Hono<AppEnv>): void {
  bind(app, endpoints.createTicket, async ({ c, env, body }) => {
    const waitUntil = (work: Promise<unknown>) => c.executionCtx.waitUntil(work);
    return countRefusal(env, body.model, waitUntil, createTicket(env, body, waitUntil));
  });
}

async function createTicket(env: ProjectEnv, request: TicketRequest, waitUntil: WaitUntil): Promise<Ticket> {
  const { version, candidate } = await admitRequest(env, { ...request, tensors: null }, Date.now(), waitUntil);
  const { placement, prediction } = candidate;
  const { id: placementId, runnerId, modelVersionId, variant, deviceKey, backend } = placement;
  const { budgetMs, confidence, priority } = request;
  const place = { placementId, modelVersionId, variant, deviceKey, backend };
  const wish = { ...place, budgetMs, confidence: confidenceOf(request), priority };
  // An object that was restarted or moved rejects its calls.
  const issued: IssuedTicket | null = await runnerLink(env, runnerId)
    .issueTicket(wish)
    .catch(() => null);
  if (issued === null) throw new ProblemError("runner-lost", "The runner's link broke.", { retryAfterMs: 1_000 });
  if (!issued.ok) throw new ProblemError(issued.problem.code, issued.problem.detail, issued.problem);
  const { batch: _, ...placed } = describePlacement(candidate, 1);
  return {
    ticket: issued.ticket,
    url: issued.url,
    expiresAt: new Date(issued.expiresAtMs).toISOString(),
    lifeMs: LIMITS.ticketMs,
    requests: LIMITS.ticketRequests,
    model: version.model,
    version: version.version,
    placement: placed,
    prediction: { confidence, ...prediction },
    budgetMs,
  };
}
