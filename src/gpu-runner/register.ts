import { endpoints } from "../protocol/endpoints.ts";
import { Problem, ProblemError } from "../protocol/problem.ts";
import { Registration, type RegistrationInput } from "../protocol/runner.ts";
import type { StoredCredential } from "./credential-file.ts";

/** Trades a one-time token for an id and a credential; throws the edge's problem where it refuses. */
export async function registerRunner(edgeUrl: string, input: RegistrationInput): Promise<StoredCredential> {
  const { method, path } = endpoints.registerRunner;
  const response = await fetch(new URL(path, edgeUrl), {
    method: method.toUpperCase(),
    headers: { "content-type": "application/json" },
    body: JSON.stringify(input),
  }).catch((cause: unknown) => {
    throw new Error(`The edge at ${edgeUrl} cannot be reached.`, { cause });
  });
  const reply: unknown = await response.json();
  if (!response.ok) {
    const problem = Problem.parse(reply);
    throw new ProblemError(problem.code, problem.detail, problem);
  }
  const { runnerId, credential, linkUrl } = Registration.parse(reply);
  return { edgeUrl, linkUrl, runnerId, credential };
}
