import { setImmediate } from "node:timers/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { FRAME_MEDIA_TYPE } from "../../../protocol/inference/inference.ts";
import { oipStatus, refuseExtension } from "../../../protocol/inference/oip.ts";
import type { TicketGrant } from "../../../protocol/inference/ticket.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { headersOf, type Problem, ProblemError, PROBLEMS, toProblem } from "../../../protocol/wire/problem.ts";
import { traced } from "../../../telemetry/span.ts";
import type { SpanExport } from "../../host/span-export.ts";
import { answerDirect, type DirectParts, type DirectRequest } from "./answer-direct.ts";
import { describeServer, describeTarget, type DirectReply, inferOip, READY, readTarget, toJson } from "./answer-oip.ts";
import { FairPlaces } from "../../../protocol/inference/fair-places.ts";
import { LoopLag } from "../../../protocol/inference/loop-lag.ts";
import { DirectStatistics } from "./direct-statistics.ts";
import { assertFrame, assertReadable, discardBody, readBody } from "./read-direct-body.ts";
import { TicketBook, type TicketKeys } from "./tickets.ts";

/** Path of requests as frames. */
export const PATH = "/v1/infer";

export interface ListenerParts extends DirectParts {
  readonly runnerId: string;
  readonly keys: TicketKeys;
  readonly spans: Pick<SpanExport, "open">;
  readonly logger: Pick<Logger, "info" | "error">;
}

/** A format of inferences: its own checks of a request's head, and its answer. */
interface Format {
  readonly check: () => void;
  readonly answer: (direct: DirectRequest) => Promise<DirectReply>;
}

/** When a request's code began, by the monotonic clock, and for how long it may have waited unseen before that. */
type Arrival = Pick<DirectRequest, "arrivedMs" | "unseenMs">;

/** Answers a limited number of requests at once. */
export class DirectAnswerer {
  readonly #parts: ListenerParts;
  readonly #tickets: TicketBook;
  readonly #statistics = new DirectStatistics();
  readonly #lag = new LoopLag(() => performance.now());
  /** By project. */
  readonly #inFlight = new FairPlaces<number | undefined>(LIMITS.directInFlight);

  constructor(parts: ListenerParts) {
    const { outcomes } = parts;
    const statistics = this.#statistics;
    const add: DirectParts["outcomes"]["add"] = (outcome) => {
      statistics.add(outcome);
      outcomes.add(outcome);
    };
    this.#parts = { ...parts, outcomes: { add } };
    this.#tickets = new TicketBook(parts.keys, parts.runnerId);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { unseenMs, end } = this.#lag.begin(() => setImmediate());
    const arrival = { arrivedMs: performance.now(), unseenMs };
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    try {
      const { status = 200, headers, body } = await this.#reply(request, response, path, arrival);
      response.writeHead(status, { ...headers, "content-length": body.byteLength }).end(body);
    } catch (error) {
      const problem = toProblem(error);
      if (problem.code === "internal" && !request.destroyed)
        this.#parts.logger.error({ error: String(error) }, "a direct request failed unexpectedly");
      // At the deadline it does not wait for anything else.
      if (problem.code !== "budget-exceeded") await discardBody(request);
      refuse(response, problem, path, request, headersOf(error));
    } finally {
      end();
    }
  }

  async #reply(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    arrival: Arrival,
  ): Promise<DirectReply> {
    const absent = refuseExtension(path);
    if (absent !== null) return { ...toJson({ error: absent.error }), status: absent.status };
    const target = readTarget(path);
    if (path !== PATH && target === null && !SERVER_PATHS.has(path)) {
      throw new ProblemError("not-found", `There is only ${PATH} and the Open Inference Protocol under /v2 here.`);
    }
    const method = methodOf(path);
    if (request.method !== method)
      throw new ProblemError("method-not-allowed", `${path} takes ${method}.`, {}, { allow: method });
    if (path === PATH) return this.#infer(request, response, arrival, this.#frames(request));
    if (target === null) return path === "/v2" ? describeServer() : READY;
    if (target.action === "infer") {
      const answer = (direct: DirectRequest) => inferOip(this.#parts, direct, target, request.headers);
      return this.#infer(request, response, arrival, { check: () => assertReadable(request), answer });
    }
    const grant = this.#tickets.use(request.headers.authorization, arrival.arrivedMs);
    return describeTarget(this.#parts, this.#statistics, grant, target);
  }

  #frames(request: IncomingMessage): Format {
    return {
      check: () => {
        assertFrame(request);
        assertReadable(request);
      },
      answer: async (direct) => ({
        headers: { "content-type": FRAME_MEDIA_TYPE },
        body: await answerDirect(this.#parts, direct),
      }),
    };
  }

  async #infer(
    request: IncomingMessage,
    response: ServerResponse,
    arrival: Arrival,
    format: Format,
  ): Promise<DirectReply> {
    const { arrivedMs } = arrival;
    const grant = this.#tickets.use(request.headers.authorization, arrivedMs);
    const gone = new AbortController();
    response.once("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    try {
      const { deviceKey, variant, backend } = grant;
      const attributes = { "millrace.device": deviceKey, "millrace.variant": variant, "millrace.backend": backend };
      const scope = this.#parts.spans.open(request.headers["traceparent"]?.toString());
      return await traced(scope, "infer", { kind: "server", attributes }, (within) =>
        this.#inferFor(request, format, { grant, ...arrival, signal: gone.signal, scope: within }),
      );
    } catch (error) {
      if (!gone.signal.aborted) this.#reportRefusal(grant, toProblem(error).code, arrivedMs);
      throw error;
    }
  }

  async #inferFor(
    request: IncomingMessage,
    { check, answer }: Format,
    direct: Omit<DirectRequest, "body">,
  ): Promise<DirectReply> {
    const tenant = this.#parts.models.find(direct.grant.modelVersionId)?.tenant;
    if (!this.#inFlight.take(tenant)) {
      const detail = "As many direct requests of the project are in flight on this runner as may be.";
      throw new ProblemError("overloaded", detail, { retryAfterMs: 100 });
    }
    try {
      check();
      const body = await readBody(request, direct.grant.budgetMs);
      return await answer({ ...direct, body });
    } finally {
      this.#inFlight.giveBack(tenant);
    }
  }

  /** Reports a refusal to the edge; a caller's mistake does not count as a request. */
  #reportRefusal({ placementId }: TicketGrant, code: Problem["code"], arrivedMs: number): void {
    if (PROBLEMS[code].fault === "client") return;
    const totalMs = performance.now() - arrivedMs;
    this.#parts.outcomes.add({ placementId, rows: 1, totalMs, times: null, refusedFor: code });
  }
}

/** Paths about the server, which need no ticket. */
const SERVER_PATHS = new Set(["/v2", "/v2/health/live", "/v2/health/ready"]);

function methodOf(path: string): "GET" | "POST" {
  return path === PATH || readTarget(path)?.action === "infer" ? "POST" : "GET";
}

/** Refuses a request; under `/v2` in the shape of the Open Inference Protocol. */
function refuse(
  response: ServerResponse,
  problem: Problem,
  path: string,
  { complete }: IncomingMessage,
  headers: Readonly<Record<string, string>>,
): void {
  const { detail } = problem;
  const isOip = path === "/v2" || path.startsWith("/v2/");
  const body = JSON.stringify(isOip ? { error: detail } : { ...problem, instance: PATH });
  if (!complete) response.setHeader("connection", "close");
  response
    .writeHead(isOip ? oipStatus(problem) : problem.status, {
      "content-type": isOip ? "application/json" : "application/problem+json",
      "content-length": Buffer.byteLength(body),
      "cache-control": "no-store",
      ...headers,
    })
    .end(body);
}
