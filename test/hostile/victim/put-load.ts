import { Agent } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { postFrame } from "../../../bench/hop/post-frame.ts";
import { poissonArrivals } from "../../../src/cli/load/arrivals.ts";
import { runOpenLoop } from "../../../src/cli/load/open-loop.ts";
import { endpoints } from "../../../src/protocol/endpoints.ts";
import { parseProblem } from "../../../src/protocol/wire/problem.ts";
import { summarise } from "../../../src/stats/distribution/distribution.ts";
import { SERVED, SERVED_ROWS, writeRequest } from "../served-network.ts";
import { type Ended, toFigures, type VictimFigures } from "./victim-figures.ts";

export const VICTIM_MODEL = "victim";
const BUDGET_MS = 500;
/** Time without an answer after which a request has none. */
const NO_ANSWER_MS = 20_000;
const CALLERS = 16;
const OTHERS_EVERY_MS = 1_000;

/** Address and key of the victim's requests. */
export interface Aim {
  readonly url: string;
  readonly key: string;
}

export interface Load {
  readonly ratePerSecond: number;
  readonly seconds: number;
  readonly seed: number;
}

/** Answers per second to callers that never pause. */
export async function measureCapacity(aim: Aim, seconds: number): Promise<number> {
  const sender = openSender(aim, BUDGET_MS);
  const startedMs = performance.now();
  let answered = 0;
  const call = async () => {
    while (performance.now() - startedMs < seconds * 1e3) if ((await sender.send()) === "200") answered++;
  };
  await Promise.all(Array.from({ length: CALLERS }, call));
  sender.close();
  return answered / ((performance.now() - startedMs) / 1e3);
}

/** Sends inferences as a Poisson process, whatever becomes of the earlier ones, and the other requests beside them. */
export async function putLoad(aim: Aim, { seconds, ratePerSecond, seed }: Load): Promise<VictimFigures> {
  const arrivalsMs = poissonArrivals({ ratePerSecond, durationMs: seconds * 1e3, seed });
  const sender = openSender(aim, BUDGET_MS);
  const inferences: Ended[] = [];
  const note = ({ result, latencyMs, lagMs }: { result: string; latencyMs: number; lagMs: number }) =>
    void inferences.push({ answer: result, isAsExpected: result === "200", latencyMs, lagMs });
  const [, others] = await Promise.all([
    runOpenLoop(arrivalsMs, sender.send, note, new AbortController().signal),
    askOthers(aim, seconds),
  ]);
  sender.close();
  const lags = inferences.map(({ lagMs }) => lagMs);
  const lagP99Ms = lags.length === 0 ? 0 : summarise(lags).p99;
  return { seconds, inferences: toFigures(inferences), others: toFigures(others), lagP99Ms };
}

function openSender({ url, key }: Aim, budgetMs: number) {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });
  const target = { url: new URL(endpoints.infer.path, url), bearer: key };
  // Of the runner alone: the edge computes some networks by itself.
  const frame = writeRequest(SERVED, SERVED_ROWS, { model: VICTIM_MODEL, budgetMs, backend: "ort-cpu" });
  const send = async (): Promise<string> => {
    const reply = await inTime(postFrame(agent, target, frame));
    if (reply === null) return "no answer";
    const problem = reply.status === 200 ? null : parseProblem(new TextDecoder().decode(reply.body));
    return [reply.status, problem?.problem.code].filter((part) => part !== undefined && part !== null).join(" ");
  };
  return { send, close: () => agent.destroy() };
}

/** What a user's page and a mistaken client ask for, with the status that each is answered with. */
const OTHERS = [
  { name: "jobs", method: "GET", path: "/v1/jobs?limit=50", expected: 200 },
  {
    name: "history",
    method: "GET",
    path: `/v1/history/query?subject=${VICTIM_MODEL}@1&metric=totalMs&step=1m`,
    expected: 200,
  },
  { name: "unknown model", method: "POST", path: endpoints.infer.path, expected: 404 },
] as const;

async function askOthers(aim: Aim, seconds: number): Promise<Ended[]> {
  const startedMs = performance.now();
  const asking: Promise<Ended>[] = [];
  for (let dueMs = startedMs; dueMs < startedMs + seconds * 1e3; dueMs += OTHERS_EVERY_MS) {
    await delay(Math.max(0, dueMs - performance.now()));
    asking.push(...OTHERS.map((other) => askOther(aim, other, dueMs)));
  }
  return Promise.all(asking);
}

async function askOther({ url, key }: Aim, other: (typeof OTHERS)[number], dueMs: number): Promise<Ended> {
  const { name, method, path, expected } = other;
  const lagMs = Math.max(0, performance.now() - dueMs);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = method === "POST" ? { body: '{"model":"nobody","budgetMs":500,"inputs":{}}' } : {};
  const asked = fetch(new URL(path, url), { method, headers, ...body }).then(async (response) => {
    await response.arrayBuffer();
    return response.status;
  });
  const status = await inTime(asked);
  const latencyMs = performance.now() - dueMs;
  return { answer: `${name} ${status ?? "no answer"}`, isAsExpected: status === expected, latencyMs, lagMs };
}

/** What was asked for; null where the connection broke, or nothing came in time. */
async function inTime<Value>(asked: Promise<Value>): Promise<Value | null> {
  const waiting = new AbortController();
  const late = delay(NO_ANSWER_MS, null, { signal: waiting.signal }).catch(() => null);
  const answer = await Promise.race([asked.catch(() => null), late]);
  waiting.abort();
  return answer;
}
