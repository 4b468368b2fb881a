import { type Client, createClient } from "../../client/client.ts";
import { parseProblem, ProblemError, type ProblemCode } from "../../protocol/wire/problem.ts";
import type { StoredCredential } from "../../checkup/runner-folder.ts";

/** Edge URL and credential for requests. */
export type EdgeAccess = Pick<StoredCredential, "edgeUrl" | "credential">;

interface EdgeOptions {
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Code of a reply without a problem: an older edge, or a gateway before it, may send anything. */
  readonly codeOf?: (status: number) => ProblemCode;
}

/** Client of the edge as this runner. Refusals become a ProblemError, whatever the edge or a gateway sends. */
export function openEdge({ edgeUrl, credential }: EdgeAccess, options: EdgeOptions = {}): Client {
  const { fetch: doFetch = fetch, codeOf = () => "backend-failed" } = options;
  return createClient({
    baseUrl: new URL(edgeUrl).origin,
    key: credential,
    fetch: doFetch,
    explain: async (response) => {
      const { status } = response;
      const detail = `The edge answered ${status}.`;
      return parseProblem(await response.text()) ?? new ProblemError(codeOf(status), detail);
    },
  });
}
