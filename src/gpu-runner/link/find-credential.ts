import { ProblemError } from "../../protocol/wire/problem.ts";
import type { RunnerConfig } from "../config.ts";
import { readCredential, registerRunner, type StoredCredential, writeCredential } from "./registration.ts";

/** Identity for this start: of an ephemeral runner a new one, in memory alone; else the stored one, or a new one. */
export async function findCredential(config: RunnerConfig): Promise<StoredCredential> {
  const stored = await readCredential(config.dataDir);
  return config.ephemeral === null ? findLasting(config, stored) : registerEphemeral(config, stored);
}

/** Stored credential; with a token, a newly registered one. */
async function findLasting(config: RunnerConfig, stored: StoredCredential | null): Promise<StoredCredential> {
  if (config.token === null && stored !== null) return stored;
  if (config.token === null || config.edgeUrl === null) {
    throw new Error("This runner is not registered: give it the edge's address and a registration token.");
  }
  const { token, name, labels } = config;
  try {
    const credential = await registerRunner(config.edgeUrl, { token, name, labels: { ...labels } });
    await writeCredential(config.dataDir, credential);
    return credential;
  } catch (error) {
    // The same command again: this runner may have used the token itself.
    if (stored !== null && error instanceof ProblemError && error.problem.code === "token-used") return stored;
    throw error;
  }
}

/** Registers an ephemeral runner. Throws `conflict` where the folder has another's identity, who may be running. */
async function registerEphemeral(config: RunnerConfig, stored: StoredCredential | null): Promise<StoredCredential> {
  const { edgeUrl, token, name, labels, dataDir } = config;
  if (stored !== null) {
    const detail = `${dataDir} is the folder of the runner ${stored.runnerId}`;
    throw new ProblemError("conflict", `${detail}: give an ephemeral runner one of its own, by --data-dir.`);
  }
  if (token === null || edgeUrl === null) {
    throw new Error("An ephemeral runner registers at each start: give it the edge's address and a new token.");
  }
  return registerRunner(edgeUrl, { token, name, labels: { ...labels }, ephemeral: true });
}
