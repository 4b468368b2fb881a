import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { type Client, createClient } from "../../src/client/client.ts";
import { createBootstrapSecret } from "../../src/local/data-folder.ts";
import { startEdge } from "../../src/local/edge-host.ts";
import { endpoints } from "../../src/protocol/endpoints.ts";
import { launchChromium } from "./chromium.ts";

const root = join(import.meta.dirname, "../..");

export interface EdgePage {
  readonly url: string;
  readonly browser: Browser;
  readonly adminKey: string;
  /** Client with the admin key. */
  readonly client: Client;
  stop(): Promise<void>;
}

/** The page of a real edge without a runner, in an empty folder, and a browser for it. */
export async function startEdgePage(): Promise<EdgePage> {
  const dataDir = await mkdtemp(join(tmpdir(), "millrace-page-"));
  const bootstrapSecret = createBootstrapSecret();
  const [edge, browser] = await Promise.all([startEdge({ port: 0, dataDir, root, bootstrapSecret }), launchChromium()]);
  const bootstrap = createClient({ baseUrl: edge.url, key: bootstrapSecret });
  const body = { name: "page", scopes: ["admin" as const] };
  const adminKey = (await bootstrap.call(endpoints.createKey, { body })).secret;
  return {
    url: edge.url,
    browser,
    adminKey,
    client: createClient({ baseUrl: edge.url, key: adminKey }),
    stop: async () => {
      await browser.close();
      await edge.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
