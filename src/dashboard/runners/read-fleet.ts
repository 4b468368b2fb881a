import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Diagnosis } from "../../protocol/health.ts";
import type { Runner } from "../../protocol/runner.ts";

/** A runner, and how it is; null where it is not connected or did not say. */
export interface FleetMember {
  readonly runner: Runner;
  readonly diagnosis: Diagnosis | null;
}

/** Asking costs each runner a report: of more than these none is asked. */
const ASKED_RUNNERS = 50;

/** All runners, each asked how it is, at the same time. */
export async function readFleet(client: Client, signal: AbortSignal): Promise<readonly FleetMember[]> {
  const { items } = await client.call(endpoints.listRunners, { signal });
  const connected = items.filter(isConnected);
  const asked = new Set(connected.slice(0, ASKED_RUNNERS));
  return Promise.all(
    items.map(async (runner) => ({ runner, diagnosis: asked.has(runner) ? await ask(client, runner, signal) : null })),
  );
}

export function isConnected({ state }: Runner): boolean {
  return state === "online" || state === "draining";
}

async function ask(client: Client, { id }: Runner, signal: AbortSignal): Promise<Diagnosis | null> {
  return client.call(endpoints.getRunnerDiagnosis, { params: { id }, signal }).catch(() => null);
}
