import { errorOf, sentenceOf } from "../../checkup/fault.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { RunnerConfig } from "../config.ts";
import type { Troubles } from "../host/troubles.ts";
import { lookAtEdge } from "./connection.ts";
import type { StoredCredential } from "../../checkup/runner-folder.ts";
import { readCredential, registerRunner, writeCredential } from "./registration.ts";

/** Identity for this start: of an ephemeral runner a new one, in memory alone; else the stored one, or a new one. */
export async function findCredential(config: RunnerConfig, troubles: Troubles): Promise<StoredCredential> {
  const stored = await readCredential(config.dataDir);
  return config.ephemeral === null
    ? findLasting(config, stored, troubles)
    : registerEphemeral(config, stored, troubles);
}

/** Stored credential; with a token, a newly registered one. */
async function findLasting(
  config: RunnerConfig,
  stored: StoredCredential | null,
  troubles: Troubles,
): Promise<StoredCredential> {
  const { token, edgeUrl, name, labels } = config;
  if (token === null && stored !== null) return stored;
  if (token === null || edgeUrl === null) {
    throw errorOf({
      cause: "not-registered",
      found: `No runner is registered in ${config.dataDir}`,
      advice: "Give it the edge's address and a registration token: --edge <address> --token <token>.",
    });
  }
  try {
    await mustReach(edgeUrl, troubles);
    const credential = await registerRunner(edgeUrl, { token, name, labels: { ...labels } });
    await writeCredential(config.dataDir, credential);
    return credential;
  } catch (error) {
    // The same command again: this runner may have used the token itself.
    if (stored !== null && error instanceof ProblemError && error.problem.code === "token-used") return stored;
    throw error;
  }
}

/** Registers an ephemeral runner. Throws `conflict` where the folder has another's identity, who may be running. */
async function registerEphemeral(
  config: RunnerConfig,
  stored: StoredCredential | null,
  troubles: Troubles,
): Promise<StoredCredential> {
  const { edgeUrl, token, name, labels, dataDir } = config;
  if (stored !== null) {
    const detail = `${dataDir} is the folder of the runner ${stored.runnerId}`;
    throw new ProblemError("conflict", `${detail}: give an ephemeral runner one of its own, by --data-dir.`);
  }
  if (token === null || edgeUrl === null) {
    throw new Error("An ephemeral runner registers at each start: give it the edge's address and a new token.");
  }
  await mustReach(edgeUrl, troubles);
  return registerRunner(edgeUrl, { token, name, labels: { ...labels }, ephemeral: true });
}

/** A token is spent where it is sent: the edge has to be there first, and of a release that fits. */
async function mustReach(edgeUrl: string, troubles: Troubles): Promise<void> {
  const reached = await lookAtEdge(edgeUrl, troubles);
  if (reached.kind === "fault") throw errorOf(reached.fault);
  if (reached.mismatch !== null) throw new ProblemError("upgrade-required", sentenceOf(reached.mismatch));
}
