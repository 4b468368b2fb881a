import { setTimeout as delay } from "node:timers/promises";
import { reachEdge } from "../../checkup/reach-edge.ts";
import { checkClock, checkEdge, checkKey } from "../doctor/check-edge.ts";
import { type EdgeSight, fail, type Finding, ok, type Verdict } from "../doctor/finding.ts";

/** The name of a first deployment takes a while to be known everywhere. */
const TRIES = 60;
const BETWEEN_MS = 3_000;

type Deployed = Omit<EdgeSight, "environment">;

/** Waits until the edge answers; throws where it does not. */
export async function awaitEdge(edgeUrl: string, doFetch: typeof fetch): Promise<void> {
  for (
    let left = TRIES;
    (await reachEdge(edgeUrl, { fetch: doFetch, environment: process.env })).kind !== "edge";
    left--
  ) {
    if (left === 0)
      throw new Error(`${edgeUrl} does not answer as an edge: look at \`npx wrangler tail\`, then run this again.`);
    await delay(BETWEEN_MS);
  }
}

/** Checks that a deployment must pass before it is announced. */
export async function checkDeployment(deployed: Deployed): Promise<Finding[]> {
  const checks = { edge: checkEdge, clock: checkClock, page: checkPage, key: checkKey };
  const seen = { ...deployed, environment: process.env };
  return Promise.all(Object.entries(checks).map(async ([check, run]) => ({ check, ...(await run(seen)) })));
}

async function checkPage({ edgeUrl, fetch }: Deployed): Promise<Verdict> {
  const response = await fetch(new URL("/", edgeUrl));
  const text = await response.text();
  if (response.ok && text.includes("<title>millrace")) return ok(`${edgeUrl}/ shows the page`);
  return fail(
    `${edgeUrl}/ shows no page: status ${response.status}`,
    "Build it (`npm run build:page`) and deploy again.",
  );
}
