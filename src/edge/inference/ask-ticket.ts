import type { Ticket, TicketRequest } from "../../protocol/inference/ticket.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { runnerLink } from "../config.ts";
import type { IssuedTicket } from "../link/link-rpc.ts";
import { admitRequest, confidenceOf } from "./admit-request.ts";
import { describePlacement } from "./answer-inference.ts";
import { countRefusal } from "./outcome-log.ts";
import type { InferCall } from "./snapshot.ts";

/** Chooses a placement like an inference, and has its runner's link sign the ticket. A refusal is counted. */
export async function askTicket(call: InferCall, request: TicketRequest): Promise<Ticket> {
  return countRefusal(call, request.model, () => admitTicket(call, request));
}

async function admitTicket(call: InferCall, request: TicketRequest): Promise<Ticket> {
  // The budget is for a later request: this one uses nothing of it up.
  const { version, candidate } = await admitRequest(
    { ...call, arrivedAtMs: Date.now() },
    { ...request, refuseWithinMs: 0, tensors: null },
  );
  const { placement, prediction } = candidate;
  const { id: placementId, runnerId, modelVersionId, variant, deviceKey, backend } = placement;
  const { budgetMs, priority, lifeMs, requests } = request;
  const about = { model: version.model, version: version.version };
  const place = { placementId, modelVersionId, variant, deviceKey, backend };
  const wish = { ...place, ...about, budgetMs, confidence: confidenceOf(request), priority, lifeMs, requests };
  // An object that was restarted or moved rejects its calls.
  const issued: IssuedTicket | null = await runnerLink(call.env, runnerId)
    .issueTicket(wish)
    .catch(() => null);
  if (issued === null) throw new ProblemError("runner-lost", "The runner's link broke.", { retryAfterMs: 1_000 });
  if (!issued.ok) throw new ProblemError(issued.problem.code, issued.problem.detail, issued.problem);
  const { batch: _, ...placed } = describePlacement(candidate, 1);
  return {
    ticket: issued.ticket,
    url: issued.url,
    expiresAt: new Date(issued.expiresAtMs).toISOString(),
    lifeMs,
    requests,
    ...about,
    placement: placed,
    prediction: { confidence: request.confidence, ...prediction },
    budgetMs,
  };
}
