import { setTimeout as delay } from "node:timers/promises";
import { checkClock, checkEdge, checkKey, reachEdge } from "../doctor/check-edge.ts";
import { fail, type Finding, ok, type Verdict } from "../doctor/finding.ts";

/** The name of a first deployment takes a while to be known everywhere. */
const TRIES = 60;
const BETWEEN_MS = 3_000;

interface Deployed {
  readonly edgeUrl: string;
  readonly key: string;
  readonly fetch: typeof fetch;
}

/** Waits until the edge answers; throws where it does not. */
export async function awaitEdge(edgeUrl: string, doFetch: typeof fetch): Promise<void> {
  for (let left = TRIES; (await reachEdge(edgeUrl, doFetch)).kind !== "edge"; left--) {
    if (left === 0)
      throw new Error(`${edgeUrl} does not answer as an edge: look at \`npx wrangler tail\`, then run this again.`);
    await delay(BETWEEN_MS);
  }
}

/** Checks that a deployment must pass before it is announced. */
export async function checkDeployment(deployed: Deployed): Promise<Finding[]> {
  const checks = { edge: checkEdge, clock: checkClock, page: checkPage, key: checkKey };
  return Promise.all(Object.entries(checks).map(async ([check, run]) => ({ check, ...(await run(deployed)) })));
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
