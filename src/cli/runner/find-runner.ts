import type { Client } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Runner } from "../../protocol/fleet/runner.ts";
import { listAll } from "../../client/list-all.ts";

/** All runners, newest first. */
export function listRunners(client: Client): Promise<Runner[]> {
  return Array.fromAsync(listAll(client, endpoints.listRunners, { query: { limit: 200 } }));
}

/** The id of a runner by its name or its id; of several with one name the one that is online. */
export async function findRunnerId(client: Client, wanted: string): Promise<string> {
  if (/^rnr_[0-9a-z]{26}$/.test(wanted)) return wanted;
  const runners = await listRunners(client);
  const named = runners.filter(({ name }) => name === wanted);
  const found = named.find(({ state }) => state === "online") ?? named[0];
  if (found !== undefined) return found.id;
  const names = [...new Set(runners.map(({ name }) => name))].join(", ") || "none";
  throw new ProblemError("not-found", `There is no runner ${wanted}; there is: ${names}.`);
}
