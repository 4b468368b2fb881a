import type { Hono } from "hono";
import { endpoints } from "../../../protocol/endpoints.ts";
import type { InferWishes } from "../../../protocol/inference/inference.ts";
import { LIMITS } from "../../../protocol/wire/limits.ts";
import {
  type ActionChoice,
  type ActReply,
  type ActStreamQuery,
  type StreamedAction,
  StreamedObservation,
} from "../../../protocol/policies/policy.ts";
import { invalidRequest, parseInput } from "../../../protocol/wire/parse-input.ts";
import { ProblemError, toProblem } from "../../../protocol/wire/problem.ts";
import { logRefusal } from "../../inference/outcome-log.ts";
import { type InferCall, locateVersion, type ProjectCall, type Version } from "../../inference/snapshot.ts";
import { authorise, type Caller, callerOf, holderOf } from "../../http/auth.ts";
import { spendRate } from "../../http/key-rate.ts";
import { type AppEnv, bind } from "../../http/bind.ts";
import { parseJson } from "../../http/read-body.ts";
import { threadShares } from "../../turns.ts";
import { endSocket } from "../../link/runner-socket.ts";
import { chooseAction, measureMessage, readPolicy, stackObservations, unstackOutputs } from "./policy-request.ts";
import { answerInference, type Inference } from "../../inference/answer-inference.ts";

/** Policies with observations and actions: models that take the path of every inference. */
export function bindPolicies(app: Hono<AppEnv>): void {
  bind(app, endpoints.actPolicy, async (call): Promise<ActReply> => {
    const { params, body } = call;
    const observations = body.observations ?? [body.observation ?? []];
    const pointerOf = (index: number) =>
      body.observations === undefined ? "#/observation" : `#/observations/${index}`;
    const version = await locate(call, params.id);
    const { inference, outputs } = await act(call, version, observations, pointerOf, body);
    const seed = body.seed ?? drawSeed();
    const actions = outputs.map((each, index) => decide(body.action, each, seed, index));
    const [action] = actions;
    const reply = { ...inference.reply, ...(body.action === "sample" && { seed }) };
    return body.observations === undefined && action !== undefined ? { ...reply, action } : { ...reply, actions };
  });

  bind(app, endpoints.streamPolicy, async (call) => {
    const { c, params, query } = call;
    if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
      throw invalidRequest([{ pointer: "header/upgrade", message: "must be websocket" }]);
    }
    const version = await locate(call, params.id);
    const maxBytes = measureMessage(readPolicy(params.id, version.inputs, version.outputs));
    const { 0: client, 1: server } = new WebSocketPair();
    serveStream(call, callerOf(c.req.raw), server, { version, maxBytes }, query);
    return new Response(null, { status: 101, webSocket: client });
  });
}

async function locate(call: ProjectCall, reference: string): Promise<Version> {
  const located = await locateVersion(call, reference);
  if (located === null) throw new ProblemError("not-found", `There is no policy ${reference}.`);
  return located.version;
}

/** The outputs for observations, and the details of their inference. */
async function act(
  call: InferCall,
  version: Version,
  observations: readonly (readonly number[])[],
  pointerOf: (index: number) => string,
  wishes: InferWishes,
): Promise<{ inference: Inference; outputs: number[][] }> {
  const model = `${version.model}@${version.version}`;
  const policy = readPolicy(model, version.inputs, version.outputs);
  const tensors = [stackObservations(policy, observations, pointerOf)];
  const inference = await answerInference(call, { ...wishes, model, tensors, pointerOf: () => pointerOf(0) });
  return { inference, outputs: unstackOutputs(policy, inference.tensors, observations.length) };
}

function drawSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0]!;
}

function decide(choice: ActionChoice, outputs: readonly number[], seed: number, index: number): number | number[] {
  try {
    return chooseAction(choice, outputs, seed, index);
  } catch {
    throw new ProblemError("backend-failed", "The policy's outputs are not finite.");
  }
}

/**
 * Answers each observation of a control loop in turn; an error ends the message, not the stream. Nothing is parsed of one
 * that comes too fast, or that has more than `maxBytes`.
 * Checks the key each time, so that a revoked key lasts no longer here than elsewhere.
 */
function serveStream(
  { env, waitUntil, scope }: InferCall,
  caller: Caller,
  socket: WebSocket,
  { version, maxBytes }: { readonly version: Version; readonly maxBytes: number },
  query: ActStreamQuery,
): void {
  let inFlight = 0;
  const { action: choice, seed = drawSeed(), ...wishes } = query;
  const send = (answer: StreamedAction) => {
    // A client that closed the socket does not wait for the rest.
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(answer));
  };
  socket.accept();
  const answer = async (data: string | ArrayBuffer) => {
    const arrivedAtMs = Date.now();
    let seq: number | null = null;
    inFlight++;
    let leaveThread = () => {};
    try {
      // A message that is wrong or refused counts as a request, too, and is answered under its number.
      if (typeof data === "string" && data.length <= maxBytes) seq = findNumber(data);
      const principal = await authorise(env, caller, endpoints.streamPolicy, waitUntil);
      if (principal?.kind === "key") spendRate(env, principal, waitUntil);
      const text = checkText(data, maxBytes);
      if (inFlight > LIMITS.streamedObservations) {
        waitUntil(logRefusal({ env, waitUntil }, `${version.model}@${version.version}`, "overloaded"));
        throw tooMany();
      }
      leaveThread = await threadShares.begin({ holder: holderOf(caller), kind: "inference", waitUntil });
      const { seq: number, observation } = parseInput(StreamedObservation, parseJson(new TextEncoder().encode(text)));
      const call = { env, waitUntil, scope, arrivedAtMs, leaveThread };
      const { inference, outputs } = await act(call, version, [observation], () => "#/observation", wishes);
      const action = decide(choice, outputs[0] ?? [], seed, number);
      send({ seq: number, action, ...(choice === "sample" && { seed }), totalMs: inference.reply.latency.totalMs });
    } catch (error) {
      const problem = toProblem(error);
      send({ seq, problem });
      if (problem.code === "unauthorized") endSocket(socket, POLICY_VIOLATION, problem.detail);
    } finally {
      leaveThread();
      inFlight--;
    }
  };
  socket.addEventListener("message", ({ data }) => void answer(data));
  // An abnormal end has no code that can be sent back; the runtime answers a close.
  socket.addEventListener("close", () => endSocket(socket, 1000, ""));
}

/** RFC 6455, 7.4.1. */
const POLICY_VIOLATION = 1008;

/** A message as text. Its characters are its bytes, unless it is wrong. */
function checkText(data: string | ArrayBuffer, maxBytes: number): string {
  if (typeof data === "string" && data.length <= maxBytes) return data;
  throw invalidRequest([{ pointer: "#", message: `must be text of at most ${maxBytes} bytes` }]);
}

/** The number of a message, found without parsing it. */
function findNumber(text: string): number | null {
  const seq = Number(/"seq"\s*:\s*(\d{1,16})(?=\s*[,}])/.exec(text)?.[1] ?? Number.NaN);
  return Number.isSafeInteger(seq) ? seq : null;
}

function tooMany(): ProblemError {
  const detail = `${LIMITS.streamedObservations} observations of this stream wait for their actions.`;
  return new ProblemError("overloaded", detail, { retryAfterMs: 100 });
}
