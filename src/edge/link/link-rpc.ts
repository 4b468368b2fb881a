import type { HealthReport } from "../../protocol/fleet/health.ts";
import type { MemoryReport } from "../../protocol/fleet/memory.ts";
import type { TicketGrant } from "../../protocol/inference/ticket.ts";
import type { Lease, Offer } from "../../protocol/link.ts";
import type { Problem } from "../../protocol/wire/problem.ts";
import type { RunnerHealth } from "../fleet/watch/watch-rule.ts";
import type { RefusedRequest, RequestOutcome } from "../history/request-measurements.ts";

/**
 * Outcome of a request at the socket: its answer (of an inference the frame as it came), or a problem.
 * `heard`: the runner itself reported the problem; else nothing came from it.
 */
export type LinkOutcome<Answer = Uint8Array> =
  | { readonly ok: true; readonly answer: Answer; readonly roundTripMs: number }
  | { readonly ok: false; readonly heard: boolean; readonly problem: Problem };

/** Request for a ticket; the link adds the runner and the time of expiry. */
export type TicketWish = Omit<TicketGrant, "runnerId" | "expiresAtMs" | "nonce"> & { readonly lifeMs: number };

export type IssuedTicket =
  | { readonly ok: true; readonly ticket: string; readonly url: string; readonly expiresAtMs: number }
  | { readonly ok: false; readonly problem: Problem };

/** Measurements that wait for the history. */
export interface OutboxBacklog {
  readonly rows: number;
  readonly oldestAtMs: number | null;
}

/** State of a link, from its own memory. */
export interface LinkState {
  readonly report: HealthReport | null;
  readonly outbox: OutboxBacklog;
}

/** The calls of a runner's object; `RunnerLink` documents each. */
export interface RunnerLinkRpc extends Rpc.DurableObjectBranded {
  /** `/live` streams the runner's reports to a listener; every other path accepts its socket. */
  fetch(request: Request): Promise<Response>;

  // Questions that the runner answers.
  infer(requestId: string, frame: Uint8Array, budgetMs: number, project: string): Promise<LinkOutcome>;
  cancelInfer(requestId: string): void;
  reportMemory(): Promise<LinkOutcome<MemoryReport>>;
  reportHealth(runnerId: string): Promise<RunnerHealth>;

  // Answers of the link itself.
  tellState(): LinkState;
  issueTicket(wish: TicketWish): Promise<IssuedTicket>;
  record(outcomes: (RequestOutcome | RefusedRequest)[]): Promise<void>;
  flush(): Promise<void>;

  // Orders to the runner.
  offer(offered: Pick<Offer, "lease" | "attempt" | "spec" | "traceparent">): Promise<"sent" | "offline">;
  cancelJob(lease: Lease): void;
  configure(modelVersionId: string): Promise<void>;
  setDraining(draining: boolean): void;
  removed(runnerId: string): Promise<void>;
  restMs(): number | Promise<number>;
}
