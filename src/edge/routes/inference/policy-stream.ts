import { DurableObject } from "cloudflare:workers";
import { endpoints } from "../../../protocol/endpoints.ts";
import type { InferWishes } from "../../../protocol/inference/inference.ts";
import { type ActionChoice, type StreamedAction, StreamedObservation } from "../../../protocol/policies/policy.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import { invalidRequest, parseInput } from "../../../protocol/wire/parse-input.ts";
import { ProblemError, toProblem } from "../../../protocol/wire/problem.ts";
import type { TraceContext } from "../../../telemetry/trace-context.ts";
import { type Env, scopeEnv } from "../../config.ts";
import { authorise, type Caller, holderOf } from "../../http/auth.ts";
import { spendRate } from "../../http/key-rate.ts";
import { parseJson } from "../../http/read-body.ts";
import { Meter, RateLimiter } from "../../http/rate-limiter.ts";
import { openScope } from "../../http/span-log.ts";
import { logRefusal } from "../../inference/outcome-log.ts";
import { currentSnapshot } from "../../inference/snapshot.ts";
import { endSocket } from "../../link/runner-socket.ts";
import { threadShares } from "../../turns.ts";
import { act, decide, type PolicyVersion } from "./act.ts";
import { measureMessage } from "./policy-request.ts";

/**
 * What holds for all of a stream. The runtime keeps it in memory beside the socket, and never on a disk, while the
 * object has no memory of its own. A later release may read it: a new field must be optional.
 */
interface Stream {
  readonly caller: Caller;
  readonly project: string;
  readonly version: PolicyVersion;
  readonly action: ActionChoice;
  readonly seed: number;
  readonly wishes: InferWishes;
  readonly trace: TraceContext | null;
}

const STREAM_HEADER = "x-stream";

/** Opens a stream in an object of its own, to which no header of the caller's request goes as it came. */
export function openPolicyStream(
  env: Env,
  { authorization = "", address }: Caller,
  stream: Omit<Stream, "caller">,
): Promise<Response> {
  // The platform's logs hide the secret only under this name.
  const headers = new Headers({ upgrade: "websocket", authorization });
  headers.set(STREAM_HEADER, encodeURIComponent(JSON.stringify({ ...stream, address })));
  return env.POLICY_STREAM.get(env.POLICY_STREAM.newUniqueId()).fetch("https://stream/", { headers });
}

function readStream(headers: Headers): Stream {
  const { address, ...stream } = JSON.parse(decodeURIComponent(headers.get(STREAM_HEADER) ?? ""));
  return { ...stream, caller: { authorization: headers.get("authorization") ?? undefined, address } };
}

/**
 * Answers each observation of one control loop in turn; an error ends the message, not the stream. Nothing is parsed of
 * one that comes too fast, or that is longer than its policy needs.
 * Each message is an invocation of its own, so that no limit of one ends the stream. Between two, the object may lose
 * its memory.
 */
export class PolicyStream extends DurableObject<Env> {
  #stream: Stream | undefined;
  #inFlight = 0;
  readonly #faults = new Meter(FAULTS);
  readonly #refusals = new Meter(FAULTS);
  readonly #waitUntil = (work: Promise<unknown>) => this.ctx.waitUntil(work);

  override fetch(request: Request): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    const stream = readStream(request.headers);
    this.ctx.acceptWebSocket(server);
    server.serializeAttachment(stream);
    this.#readAhead(stream);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** Reads key and placements for the first observation: this may be another isolate than that of the request. */
  #readAhead({ caller, project }: Stream): void {
    const call = { env: scopeEnv(this.env, project), waitUntil: this.#waitUntil };
    const reads = [authorise(this.env, caller, endpoints.streamPolicy, this.#waitUntil), currentSnapshot(call)];
    this.#waitUntil(Promise.allSettled(reads));
  }

  override async webSocketMessage(socket: WebSocket, data: string | ArrayBuffer): Promise<void> {
    // Of a stream that was closed, more may come for as long as the client likes.
    if (socket.readyState !== WebSocket.OPEN) return;
    const arrivedAtMs = Date.now();
    const stream = (this.#stream ??= socket.deserializeAttachment() as Stream);
    const maxBytes = measureMessage(stream.version.policy);
    // A message that is wrong or refused counts as a request, too, and is answered under its number.
    const seq = typeof data === "string" && data.length <= maxBytes ? findNumber(data) : null;
    let leaveThread: (() => void) | null = null;
    this.#inFlight++;
    try {
      leaveThread = await this.#admit(stream, () => assertShort(data, maxBytes));
      send(socket, await this.#answer(stream, data as string, arrivedAtMs, leaveThread));
    } catch (error) {
      const problem = toProblem(error);
      send(socket, { seq, problem });
      if (problem.code === "unauthorized") endSocket(socket, POLICY_VIOLATION, problem.detail);
      // Who asks again with each refusal would keep the thread busy with refusals.
      const isFault = FAULT_CODES.has(problem.code) || error instanceof TooMany;
      if (isFault && !this.#faults.take(1, Date.now()))
        endSocket(socket, TRY_AGAIN_LATER, `more than ${FAULTS.perSecond} faults a second`);
      const [isOften, isTooOften] = [!this.#refusals.take(1, Date.now()), !noteRefusal(stream.project)];
      if (isOften && isTooOften)
        endSocket(socket, TRY_AGAIN_LATER, `more than ${REFUSALS.perSecond} refusals a second in this project`);
    } finally {
      leaveThread?.();
      this.#inFlight--;
    }
  }

  /**
   * Waits for the observation's turn on the thread; the returned function ends it. Checks the key each time, so that a
   * revoked key lasts no longer here than elsewhere.
   */
  async #admit({ caller, project, version }: Stream, check: () => void): Promise<() => void> {
    const waitUntil = this.#waitUntil;
    const principal = await authorise(this.env, caller, endpoints.streamPolicy, waitUntil);
    if (principal?.kind === "key") spendRate(this.env, principal, waitUntil);
    check();
    if (this.#inFlight > LIMITS.streamedObservations) {
      waitUntil(logRefusal({ env: scopeEnv(this.env, project), waitUntil }, version.model, "overloaded"));
      throw new TooMany();
    }
    return threadShares.begin({ holder: holderOf(caller), kind: "inference", waitUntil });
  }

  async #answer(
    { project, version, action: choice, seed, wishes, trace }: Stream,
    text: string,
    arrivedAtMs: number,
    leaveThread: () => void,
  ): Promise<StreamedAction> {
    const waitUntil = this.#waitUntil;
    const env = scopeEnv(this.env, project);
    const { seq, observation } = parseInput(StreamedObservation, parseJson(new TextEncoder().encode(text)));
    const call = { env, waitUntil, scope: openScope(env, trace, waitUntil), arrivedAtMs, leaveThread };
    const { inference, outputs } = await act(call, version, [observation], () => "#/observation", wishes);
    const action = decide(choice, outputs[0] ?? [], seed, seq);
    return { seq, action, ...(choice === "sample" && { seed }), totalMs: inference.reply.latency.totalMs };
  }

  /** An abnormal end has no code that can be sent back; the runtime answers a close. */
  override webSocketClose(socket: WebSocket): void {
    endSocket(socket, 1000, "");
  }
}

/** RFC 6455, 7.4.1, and IANA's registry of close codes. */
const POLICY_VIOLATION = 1008;
const TRY_AGAIN_LATER = 1013;

/** Observations of a stream that are wrong, beyond the key's rate, or too many at once; and all that are refused. */
export const FAULTS = { perSecond: 10, burst: 30 };
/**
 * Observations of all streams of a project in this isolate that are refused, for whatever reason: beyond, streams are
 * closed that have more than `FAULTS` themselves, and none is opened until half the burst is free again.
 */
const REFUSALS = { perSecond: 200, burst: 400 };
const refusals = new RateLimiter(1_000);
const FAULT_CODES: ReadonlySet<string> = new Set(["rate-limited", "invalid-request"]);

/** Counts a refused observation of a project; false beyond the rate. */
export function noteRefusal(project: string): boolean {
  return refusals.spend(project, REFUSALS, Date.now()).isAllowed;
}

/** Throws `overloaded` where so many observations of the project were refused that its streams are being closed. */
export function checkRefusals(project: string): void {
  const { remaining } = refusals.look(project, REFUSALS, Date.now());
  if (remaining >= REFUSALS.burst / 2) return;
  const detail = "Too many observations of this project's streams were refused: the edge has no room for them now.";
  throw new ProblemError("overloaded", detail, { retryAfterMs: 1_000 });
}

function send(socket: WebSocket, answer: StreamedAction): void {
  // A client that closed the socket does not wait for the rest.
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(answer));
}

/** Characters of a text are its bytes, unless it is wrong. */
function assertShort(data: string | ArrayBuffer, maxBytes: number): void {
  if (typeof data === "string" && data.length <= maxBytes) return;
  throw invalidRequest([{ pointer: "#", message: `must be text of at most ${maxBytes} bytes` }]);
}

/** The number of a message, found without parsing it. */
function findNumber(text: string): number | null {
  const seq = Number(/"seq"\s*:\s*(\d{1,16})(?=\s*[,}])/.exec(text)?.[1] ?? Number.NaN);
  return Number.isSafeInteger(seq) ? seq : null;
}

class TooMany extends ProblemError {
  constructor() {
    const detail = `${LIMITS.streamedObservations} observations of this stream wait for their actions.`;
    super("overloaded", detail, { retryAfterMs: 100 });
  }
}
