import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import type { Diagnosis } from "../../protocol/health.ts";
import { isConnected } from "./is-connected.ts";

/** Asking costs each runner a report: of more than these none is asked. */
const ASKED_RUNNERS = 50;

/**
 * How each connected runner is, by its id, all asked at the same time; one that does not say is left out. Those of
 * other projects tell their owners alone.
 */
export async function readDiagnoses(client: Client, signal: AbortSignal): Promise<ReadonlyMap<string, Diagnosis>> {
  const { items } = await client.call(endpoints.listRunners, { signal });
  const asked = items.filter((runner) => runner.owned && isConnected(runner)).slice(0, ASKED_RUNNERS);
  const told = await Promise.all(
    asked.map(({ id }) => client.call(endpoints.getRunnerDiagnosis, { params: { id }, signal }).catch(() => null)),
  );
  return new Map(told.flatMap((diagnosis) => (diagnosis === null ? [] : [[diagnosis.runnerId, diagnosis] as const])));
}
