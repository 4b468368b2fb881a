import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Client } from "../client/client.ts";
import { readCredential, writeCredential } from "../gpu-runner/credential-file.ts";
import { endpoints } from "../protocol/endpoints.ts";

/**
 * Environment of the local runner: with a registration token where the edge does not know it (any
 * more). The runner itself spends the token at the public registration route.
 */
export async function prepareLocalRunner(
  client: Client,
  edgeUrl: string,
  dataDir: string,
): Promise<Record<string, string>> {
  const runnerDir = join(dataDir, "runner");
  const environment = { MILLRACE_EDGE: edgeUrl, MILLRACE_RUNNER_DIR: runnerDir, MILLRACE_RUNNER_NAME: "local" };
  const stored = await readCredential(runnerDir).catch(() => null);
  if (stored !== null && (await isKnown(client, stored.runnerId))) {
    // The same edge may stand on another port now.
    const linkUrl = new URL(new URL(stored.linkUrl).pathname, edgeUrl.replace("http", "ws")).href;
    await writeCredential(runnerDir, { ...stored, edgeUrl, linkUrl });
    return environment;
  }
  await rm(join(runnerDir, "credential.json"), { force: true });
  const { token } = await client.call(endpoints.createRegistrationToken, { body: {} });
  return { ...environment, MILLRACE_TOKEN: token };
}

async function isKnown(client: Client, id: string): Promise<boolean> {
  return client.call(endpoints.getRunner, { params: { id } }).then(
    () => true,
    () => false,
  );
}
