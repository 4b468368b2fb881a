import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { type Client, createClient } from "../../client/client.ts";
import { endpoints } from "../../protocol/endpoints.ts";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { Wrangler } from "./wrangler.ts";

const SECRET = "BOOTSTRAP_SECRET";
const Secrets = z.array(z.object({ name: z.string() }));
/** A new secret reaches every machine of Cloudflare within seconds, as a rule. */
const TRIES = 60;
const BETWEEN_MS = 2_000;

interface Place {
  readonly edgeUrl: string;
  readonly fetch: typeof fetch;
  /** File that keeps the key. */
  readonly path: string;
}

/**
 * Makes the first admin key with a temporary secret and stores it; a stored key that still works is kept. An
 * interrupted attempt starts again under another secret.
 */
export async function ensureFirstKey(wrangler: Wrangler, { edgeUrl, fetch, path }: Place): Promise<"kept" | "made"> {
  const kept = (await readFile(path, "utf8").catch(() => "")).trim();
  const isKept = kept !== "" && (await isKnown(createClient({ baseUrl: edgeUrl, key: kept, fetch })));
  try {
    if (!isKept) await makeKey(wrangler, { edgeUrl, fetch, path });
  } finally {
    await removeSecret(wrangler);
  }
  return isKept ? "kept" : "made";
}

async function removeSecret(wrangler: Wrangler): Promise<void> {
  const secrets = Secrets.parse(parseJson(await wrangler(["secret", "list", "--format", "json"])));
  if (secrets.some(({ name }) => name === SECRET)) await wrangler(["secret", "delete", SECRET]);
}

async function makeKey(wrangler: Wrangler, { edgeUrl, fetch, path }: Place): Promise<void> {
  const bootstrap = randomBytes(32).toString("base64url");
  await wrangler(["secret", "put", SECRET], { input: bootstrap });
  const client = createClient({ baseUrl: edgeUrl, key: bootstrap, fetch });
  for (let left = TRIES; !(await isKnown(client)); left--) {
    if (left === 0) throw new Error(`${edgeUrl} does not take the secret that was put: run this again.`);
    await delay(BETWEEN_MS);
  }
  const { secret } = await client.call(endpoints.createKey, { body: { name: "admin", scopes: ["admin"] } });
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${secret}\n`, { mode: 0o600 });
}

/** Whether the edge accepts it as an admin's key; throws on anything but a refusal. */
async function isKnown(client: Client): Promise<boolean> {
  try {
    await client.call(endpoints.listKeys, { query: { limit: 1 } });
    return true;
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === "unauthorized") return false;
    throw error;
  }
}
