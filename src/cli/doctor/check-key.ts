import { type Client, createClient } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Scope } from "../../protocol/key.ts";
import { ProblemError } from "../../protocol/problem.ts";
import { fail, ok, skip, type Verdict, warn } from "./finding.ts";
import type { Patient } from "./patient.ts";
import { reachEdge } from "./reach-edge.ts";

/** What the edge refuses for the body alone where the key has the scope: nothing is read, queued or computed. */
const PROBES: Readonly<Record<Scope, (client: Client) => Promise<unknown>>> = {
  admin: (client) => client.send(endpoints.listKeys, { query: { limit: 1 } }),
  read: (client) => client.send(endpoints.listRunners, { query: { limit: 1 } }),
  submit: (client) => client.send(endpoints.createJob, { body: {} }),
  infer: (client) => client.send(endpoints.createTicket, { body: {} }),
};
const ADVICE = "Have a key made by somebody with the scope `admin`: `millrace keys create`, or the page's settings.";

/** Whether the edge knows the key, and what for. */
export async function checkKey({ edgeUrl, key, fetch }: Pick<Patient, "edgeUrl" | "key" | "fetch">): Promise<Verdict> {
  if ((await reachEdge(edgeUrl, fetch)).kind !== "edge") return skip("the edge does not answer");
  if (key === null) return warn("no key is named", "Name one with --key or MILLRACE_KEY, or add a context with one.");
  const client = createClient({ baseUrl: edgeUrl, key, fetch });
  const scopes: Scope[] = [];
  for (const scope of Object.keys(PROBES) as Scope[]) {
    const code = await PROBES[scope](client).then(() => null, codeOf);
    if (code === "unauthorized") return fail(`${edgeUrl} does not know the key, or it was revoked`, ADVICE);
    if (code === null || code === "invalid-request") scopes.push(scope);
    else if (code !== "forbidden") return warn(`the key could not be tried for ${scope}: ${code}`, "Try again.");
  }
  return ok(`valid, with ${scopes.includes("admin") ? "all scopes (admin)" : `scopes ${scopes.join(", ")}`}`);
}

function codeOf(error: unknown): string {
  return error instanceof ProblemError ? error.problem.code : String(error);
}
