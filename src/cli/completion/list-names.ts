import { endpoints } from "../../protocol/endpoints.ts";
import { readContexts } from "../context/context-book.ts";
import { type EdgeOptions, openEdge } from "../edge-options.ts";
import { listKernels } from "../kernels/find-kernel.ts";
import { listRunners } from "../runner/find-runner.ts";
import type { Shell } from "../shell.ts";
import type { NameKind } from "./command-words.ts";

/** Nobody waits longer for a key. */
const PATIENCE_MS = 2_000;

/** The names of a kind that the chosen edge has. Throws where it does not answer soon. */
export async function listNames(kind: NameKind, options: EdgeOptions, shell: Shell): Promise<string[]> {
  if (kind === "context") return Object.keys((await readContexts(shell.env)).contexts);
  const patient: typeof fetch = (url, init) => shell.fetch(url, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
  const client = await openEdge(options, { ...shell, fetch: patient });
  switch (kind) {
    case "model":
      return (await client.call(endpoints.listModels, { query: { limit: 200 } })).items.map(({ name }) => name);
    case "job":
      return (await client.call(endpoints.listJobs, { query: { limit: 50 } })).items.map(({ id }) => id);
    case "kernel":
      return unique((await listKernels(client)).map(({ name }) => name));
    case "runner":
      return unique((await listRunners(client)).map(({ name }) => name));
  }
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)];
}
