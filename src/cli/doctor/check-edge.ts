import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type Client, createClient } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { Registration } from "../../protocol/fleet/runner.ts";
import type { Scope } from "../../protocol/service/key.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { VERSION } from "../../protocol/wire/release.ts";
import { fail, ok, type Patient, skip, type Verdict, warn } from "./finding.ts";

/** Fields read from the reply; an edge of another release may send more, or fewer. */
const Health = z.object({ status: z.literal("ok"), version: z.string() });
const WITHIN_MS = 10_000;

type Reached =
  | {
      readonly kind: "edge";
      readonly version: string;
      /** Lead of the edge's clock over this one; null if it sent no date. */
      readonly aheadMs: number | null;
      /** Error bound of `aheadMs`: dates are whole seconds, and the reply took time. */
      readonly withinMs: number;
    }
  | { readonly kind: "other"; readonly reason: string }
  | { readonly kind: "silent"; readonly reason: string };

/** Asks an edge how it is. */
export async function reachEdge(edgeUrl: string, doFetch: typeof fetch): Promise<Reached> {
  const sentMs = Date.now();
  let response: Response;
  let text: string;
  try {
    response = await doFetch(new URL(endpoints.getHealth.path, edgeUrl), { signal: AbortSignal.timeout(WITHIN_MS) });
    text = await response.text();
  } catch (error) {
    return { kind: "silent", reason: reasonOf(error) };
  }
  const halfTripMs = (Date.now() - sentMs) / 2;
  const health = Health.safeParse(parseJson(text));
  if (!response.ok || !health.success) return { kind: "other", reason: `status ${response.status}` };
  const dateMs = Date.parse(response.headers.get("date") ?? "");
  const aheadMs = Number.isNaN(dateMs) ? null : Math.round(dateMs + 500 - (sentMs + halfTripMs));
  return { kind: "edge", version: health.data.version, aheadMs, withinMs: 500 + halfTripMs };
}

/** `fetch` hides what happened behind its own message. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  return (cause as NodeJS.ErrnoException).code ?? cause.message;
}

/** Beyond this, what is reported with times of this machine stands in the wrong place of the history. */
const WARN_MS = 2_000;
const FAIL_MS = 30_000;
const CLOCK_ADVICE = "Set this machine's clock by NTP: `timedatectl set-ntp true`, or chrony.";

/** This machine's clock against the edge's. */
export async function checkClock({ edgeUrl, fetch }: Pick<Patient, "edgeUrl" | "fetch">): Promise<Verdict> {
  const reached = await reachEdge(edgeUrl, fetch);
  if (reached.kind !== "edge") return skip("the edge does not answer");
  if (reached.aheadMs === null) return skip("the edge sends no date");
  return judgeClock(reached.aheadMs, reached.withinMs);
}

/** `aheadMs` is known to `withinMs`, which is in this machine's favour. */
export function judgeClock(aheadMs: number, withinMs: number): Verdict {
  const certainMs = Math.max(0, Math.abs(aheadMs) - withinMs);
  if (certainMs < WARN_MS) return ok(`agrees with the edge's within ${(withinMs / 1e3 + WARN_MS / 1e3).toFixed(1)} s`);
  const found = `${(Math.abs(aheadMs) / 1e3).toFixed(0)} s ${aheadMs > 0 ? "behind" : "ahead of"} the edge's`;
  return certainMs < FAIL_MS ? warn(found, CLOCK_ADVICE) : fail(found, CLOCK_ADVICE);
}

const Stored = Registration.extend({ edgeUrl: z.url() });
/** Digest of no artifact: the edge answers 404 to a runner that it knows, and 401 to others. */
const NO_ARTIFACT = `sha256:${"0".repeat(64)}`;
const CREDENTIAL_ADVICE =
  "Register anew: `millrace runner start --edge <address> --token <token>`, with a token of that edge.";

/** Whether the edge knows this machine's registered runner. */
export async function checkCredential({ runnerDir, fetch }: Patient): Promise<Verdict> {
  const path = join(runnerDir, "credential.json");
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => error);
  if (typeof text !== "string") {
    if (text.code === "ENOENT") return skip(`no runner was registered in ${runnerDir}`);
    return fail(`${path} cannot be read: ${text.message}`, "Give it to the user that the runner is started by.");
  }
  const stored = Stored.safeParse(parseJson(text));
  if (!stored.success) return fail(`${path} is damaged`, `Delete it. ${CREDENTIAL_ADVICE}`);
  const { edgeUrl, credential, runnerId } = stored.data;
  const client = createClient({ baseUrl: edgeUrl, key: credential, fetch });
  const answer = await client
    .send(endpoints.downloadArtifact, { params: { digest: NO_ARTIFACT } })
    .then(() => null, failureCodeOf);
  if (answer === "unauthorized")
    return fail(`${edgeUrl} does not know ${runnerId}: it was removed there`, CREDENTIAL_ADVICE);
  if (answer === null || answer === "not-found") return ok(`${runnerId} is known at ${edgeUrl}`);
  return warn(`${runnerId} could not be tried at ${edgeUrl}: ${answer}`, "Look whether that edge can be reached.");
}

function failureCodeOf(error: unknown): string {
  return error instanceof ProblemError ? error.problem.code : error instanceof Error ? error.message : String(error);
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
export async function checkKey({ edgeUrl, key, fetch }: Pick<Patient, "edgeUrl" | "key" | "fetch">): Promise<Verdict> {
  if ((await reachEdge(edgeUrl, fetch)).kind !== "edge") return skip("the edge does not answer");
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

/** Whether an edge answers at the address. */
export async function checkEdge({ edgeUrl, fetch }: Pick<Patient, "edgeUrl" | "fetch">): Promise<Verdict> {
  return judgeEdge(edgeUrl, await reachEdge(edgeUrl, fetch));
}

function judgeEdge(edgeUrl: string, reached: Reached): Verdict {
  if (reached.kind === "silent") {
    return fail(
      `${edgeUrl} cannot be reached: ${reached.reason}`,
      "Start it (`millrace up`), or name another address with --edge; then look at name service, proxy and firewall.",
    );
  }
  if (reached.kind === "other") {
    return fail(`What answers at ${edgeUrl} is no edge: ${reached.reason}`, "Name the edge's address with --edge.");
  }
  const found = `${edgeUrl} answers, release ${reached.version}`;
  if (reached.version === VERSION) return ok(found);
  return warn(`${found}, and this is ${VERSION}`, "Bring both to one release; the edge goes first.");
}
