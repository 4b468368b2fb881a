import { findProxy, judgeProxies } from "../../checkup/proxy.ts";
import { CLOCK_MILD_MS, judgeClock, reachEdge } from "../../checkup/reach-edge.ts";
import { type Client, createClient } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Scope } from "../../protocol/service/key.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import { type EdgeSight, fail, judge, ok, skip, type Verdict, warn } from "./finding.ts";

/** This machine's clock against the edge's. */
export async function checkClock(patient: EdgeSight): Promise<Verdict> {
  const reached = await reachEdge(patient.edgeUrl, patient);
  if (reached.kind !== "edge") return skip("the edge does not answer");
  if (reached.aheadMs === null) return skip("the edge sends no date");
  const { aheadMs, withinMs } = reached;
  return judge(
    judgeClock(aheadMs, withinMs),
    `agrees with the edge's within ${((withinMs + CLOCK_MILD_MS) / 1e3).toFixed(1)} s`,
  );
}

/** Proxy on the way to the edge. */
export async function checkProxy({ edgeUrl, environment }: EdgeSight): Promise<Verdict> {
  const fault = judgeProxies(environment);
  if (fault !== null) return judge(fault, "");
  const proxy = findProxy(new URL(edgeUrl), environment);
  return proxy === null ? skip(`none on the way to ${edgeUrl}`) : ok(`${proxy.url.host} (${proxy.variable})`);
}

/** Requests with a body that the edge refuses once the key has the scope: nothing is read, queued or computed. */
const PROBES: Readonly<Record<Scope, (client: Client) => Promise<unknown>>> = {
  admin: (client) => client.send(endpoints.listKeys, { query: { limit: 1 } }),
  read: (client) => client.send(endpoints.listRunners, { query: { limit: 1 } }),
  submit: (client) => client.send(endpoints.createJob, { body: {} }),
  infer: (client) => client.send(endpoints.createTicket, { body: {} }),
};
const KEY_ADVICE =
  "Have a key made by somebody with the scope `admin`: `millrace keys create`, or the page's settings.";

/** Whether the edge knows the key, and its scopes. */
export async function checkKey(patient: EdgeSight): Promise<Verdict> {
  const { edgeUrl, key, fetch } = patient;
  if ((await reachEdge(edgeUrl, patient)).kind !== "edge") return skip("the edge does not answer");
  if (key === null) return warn("no key is named", "Name one with --key or MILLRACE_KEY, or add a context with one.");
  const client = createClient({ baseUrl: edgeUrl, key, fetch });
  const scopes: Scope[] = [];
  for (const scope of Object.keys(PROBES) as Scope[]) {
    const code = await PROBES[scope](client).then(() => null, codeOf);
    if (code === "unauthorized") return fail(`${edgeUrl} does not know the key, or it was revoked`, KEY_ADVICE);
    if (code === null || code === "invalid-request") scopes.push(scope);
    else if (code !== "forbidden") return warn(`the key could not be tried for ${scope}: ${code}`, "Try again.");
  }
  return ok(`valid, with ${scopes.includes("admin") ? "all scopes (admin)" : `scopes ${scopes.join(", ")}`}`);
}

function codeOf(error: unknown): string {
  return error instanceof ProblemError ? error.problem.code : String(error);
}

/** Whether an edge answers at the address, and is of a release that fits. */
export async function checkEdge(patient: EdgeSight): Promise<Verdict> {
  const reached = await reachEdge(patient.edgeUrl, patient);
  if (reached.kind === "fault") return judge(reached.fault, "");
  const found = `${patient.edgeUrl} answers, release ${reached.version}`;
  if (reached.mismatch !== null || reached.version === VERSION) return judge(reached.mismatch, found);
  return warn(`${found}, and this is ${VERSION}`, "Bring both to one release; the edge goes first.");
}
